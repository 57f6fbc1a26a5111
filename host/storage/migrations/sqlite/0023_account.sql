-- Accounts of people. They belong to the installation; their roles name organizations.
CREATE TABLE account (
    id            TEXT NOT NULL,
    -- In lower case.
    email         TEXT NOT NULL,
    state         TEXT NOT NULL CHECK (state IN ('invited', 'active', 'disabled')),
    -- An argon2id hash in PHC form. Absent until the account is set up.
    password_hash TEXT,
    -- Sessions of earlier epochs have ended.
    session_epoch INTEGER NOT NULL,
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL,
    signed_in_at  INTEGER,
    version       INTEGER NOT NULL,
    PRIMARY KEY (id)
) STRICT;
CREATE UNIQUE INDEX account_email ON account (email);

-- `organization` is empty for operators.
CREATE TABLE account_role (
    account_id   TEXT NOT NULL,
    organization TEXT NOT NULL,
    role         TEXT NOT NULL CHECK (role IN ('operator', 'admin', 'developer', 'viewer')),
    created_at   INTEGER NOT NULL,
    PRIMARY KEY (account_id, organization)
) STRICT, WITHOUT ROWID;
CREATE INDEX account_role_organization ON account_role (organization, account_id);

-- Links that set up an account or reset it. Each is valid once, within 24 hours.
CREATE TABLE account_link (
    sha256     BLOB NOT NULL,
    -- Absent if the person who opens the link chooses the address.
    email      TEXT,
    -- The roles that the account receives: JSON.
    roles      TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    used_at    INTEGER,
    PRIMARY KEY (sha256)
) STRICT, WITHOUT ROWID;
-- Serves the deletion of old links.
CREATE INDEX account_link_expiry ON account_link (expires_at);
-- Serves the revocation of the links of an address.
CREATE INDEX account_link_email ON account_link (email) WHERE email IS NOT NULL;
