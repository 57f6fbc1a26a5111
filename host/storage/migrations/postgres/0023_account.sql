-- Accounts of people. They belong to the installation; their roles name organizations.
CREATE TABLE account (
    id            TEXT COLLATE "C" NOT NULL,
    -- In lower case.
    email         TEXT COLLATE "C" NOT NULL,
    state         TEXT COLLATE "C" NOT NULL CHECK (state IN ('invited', 'active', 'disabled')),
    -- An argon2id hash in PHC form. Absent until the account is set up.
    password_hash TEXT COLLATE "C",
    -- Sessions of earlier epochs have ended.
    session_epoch BIGINT NOT NULL,
    created_at    BIGINT NOT NULL,
    updated_at    BIGINT NOT NULL,
    signed_in_at  BIGINT,
    version       BIGINT NOT NULL,
    PRIMARY KEY (id)
);
CREATE UNIQUE INDEX account_email ON account (email);

-- `organization` is empty for operators.
CREATE TABLE account_role (
    account_id   TEXT COLLATE "C" NOT NULL,
    organization TEXT COLLATE "C" NOT NULL,
    role         TEXT COLLATE "C" NOT NULL CHECK (role IN ('operator', 'admin', 'developer', 'viewer')),
    created_at   BIGINT NOT NULL,
    PRIMARY KEY (account_id, organization)
);
CREATE INDEX account_role_organization ON account_role (organization, account_id);

-- Links that set up an account or reset it. Each is valid once, within 24 hours.
CREATE TABLE account_link (
    sha256     BYTEA NOT NULL,
    -- Absent if the person who opens the link chooses the address.
    email      TEXT COLLATE "C",
    -- The roles that the account receives: JSON.
    roles      TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    used_at    BIGINT,
    PRIMARY KEY (sha256)
);
-- Serves the deletion of old links.
CREATE INDEX account_link_expiry ON account_link (expires_at);
-- Serves the revocation of the links of an address.
CREATE INDEX account_link_email ON account_link (email) WHERE email IS NOT NULL;
