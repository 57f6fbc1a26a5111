-- The one-time passwords (TOTP) that accounts use as second factor.
CREATE TABLE account_totp (
    account_id    TEXT COLLATE "C" NOT NULL,
    sealed_secret BYTEA NOT NULL,
    -- The time step of the last accepted code. Codes of it and of earlier steps are refused.
    last_step     BIGINT NOT NULL,
    created_at    BIGINT NOT NULL,
    PRIMARY KEY (account_id)
);

-- Unused recovery codes. Only their digests are stored.
CREATE TABLE account_recovery_code (
    account_id TEXT COLLATE "C" NOT NULL,
    sha256     BYTEA NOT NULL,
    PRIMARY KEY (account_id, sha256)
);

-- The organization that a link invites to. Absent for links that set up an account.
ALTER TABLE account_link ADD COLUMN organization TEXT COLLATE "C";
-- Serves the list of an organization's invitations.
CREATE INDEX account_link_organization ON account_link (organization, email) WHERE organization IS NOT NULL;

-- Serve the lists of members: of one organization, and of all.
CREATE INDEX account_role_joined ON account_role (organization, created_at, (account_id || '-' || organization));
CREATE INDEX account_role_all_joined ON account_role (created_at, (account_id || '-' || organization)) WHERE organization <> '';
