-- Sessions of the dashboard. Only the digests of their cookies are stored.
CREATE TABLE account_session (
    sha256        BLOB NOT NULL,
    id            TEXT NOT NULL,
    account_id    TEXT NOT NULL,
    -- The account's epoch when the session began.
    session_epoch INTEGER NOT NULL,
    mode          TEXT NOT NULL CHECK (mode IN ('test', 'live')),
    address       TEXT NOT NULL,
    user_agent    TEXT NOT NULL,
    created_at    INTEGER NOT NULL,
    seen_at       INTEGER NOT NULL,
    PRIMARY KEY (sha256)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX account_session_id ON account_session (id);
CREATE INDEX account_session_account ON account_session (account_id, seen_at);
-- Serves the deletion of sessions that have ended.
CREATE INDEX account_session_seen ON account_session (seen_at);

-- Failed sign-ins by account and by address. Addresses without an account count too.
CREATE TABLE sign_in_guard (
    -- `account:` and the digest of the e-mail address, or `address:` and an IPv4 address or an
    -- IPv6 network of 64 bits.
    subject    TEXT NOT NULL,
    -- Orders concurrent attempts, so that no burst exceeds the limit.
    revision   INTEGER NOT NULL,
    -- The times of the failures: JSON.
    failures   TEXT NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (subject)
) STRICT, WITHOUT ROWID;
-- Serves the deletion of old rows.
CREATE INDEX sign_in_guard_updated ON sign_in_guard (updated_at);
