-- API keys. Only their digests are stored.
CREATE TABLE api_key (
    organization TEXT NOT NULL,
    mode         TEXT NOT NULL CHECK (mode IN ('test', 'live')),
    id           TEXT NOT NULL,
    name         TEXT NOT NULL,
    scopes       TEXT NOT NULL,
    masked_key   TEXT NOT NULL,
    sha256       BLOB NOT NULL,
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER,
    last_used_at INTEGER,
    revoked_at   INTEGER,
    PRIMARY KEY (organization, mode, id)
) STRICT;
-- A caller is identified by the key alone.
CREATE UNIQUE INDEX api_key_sha256 ON api_key (sha256);
CREATE UNIQUE INDEX api_key_id ON api_key (id);
