-- API keys. Only their digests are stored.
CREATE TABLE api_key (
    organization TEXT COLLATE "C" NOT NULL,
    mode         TEXT COLLATE "C" NOT NULL CHECK (mode IN ('test', 'live')),
    id           TEXT COLLATE "C" NOT NULL,
    name         TEXT COLLATE "C" NOT NULL,
    scopes       TEXT COLLATE "C" NOT NULL,
    masked_key   TEXT COLLATE "C" NOT NULL,
    sha256       BYTEA NOT NULL,
    created_at   BIGINT NOT NULL,
    expires_at   BIGINT,
    last_used_at BIGINT,
    revoked_at   BIGINT,
    PRIMARY KEY (organization, mode, id)
);
-- A caller is identified by the key alone.
CREATE UNIQUE INDEX api_key_sha256 ON api_key (sha256);
CREATE UNIQUE INDEX api_key_id ON api_key (id);
