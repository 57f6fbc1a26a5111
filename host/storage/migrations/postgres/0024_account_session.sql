-- Sessions of the dashboard. Only the digests of their cookies are stored.
CREATE TABLE account_session (
    sha256        BYTEA NOT NULL,
    id            TEXT COLLATE "C" NOT NULL,
    account_id    TEXT COLLATE "C" NOT NULL,
    -- The account's epoch when the session began.
    session_epoch BIGINT NOT NULL,
    mode          TEXT COLLATE "C" NOT NULL CHECK (mode IN ('test', 'live')),
    address       TEXT COLLATE "C" NOT NULL,
    user_agent    TEXT COLLATE "C" NOT NULL,
    created_at    BIGINT NOT NULL,
    seen_at       BIGINT NOT NULL,
    PRIMARY KEY (sha256)
);
CREATE UNIQUE INDEX account_session_id ON account_session (id);
CREATE INDEX account_session_account ON account_session (account_id, seen_at);
-- Serves the deletion of sessions that have ended.
CREATE INDEX account_session_seen ON account_session (seen_at);

-- Failed sign-ins by account and by address. Addresses without an account count too.
CREATE TABLE sign_in_guard (
    -- `account:` and the digest of the e-mail address, or `address:` and an IPv4 address or an
    -- IPv6 network of 64 bits.
    subject    TEXT COLLATE "C" NOT NULL,
    -- Orders concurrent attempts, so that no burst exceeds the limit.
    revision   BIGINT NOT NULL,
    -- The times of the failures: JSON.
    failures   TEXT COLLATE "C" NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (subject)
);
-- Serves the deletion of old rows.
CREATE INDEX sign_in_guard_updated ON sign_in_guard (updated_at);
