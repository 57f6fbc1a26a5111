-- The identities by which single sign-on (OpenID Connect) knows accounts.
CREATE TABLE account_identity (
    issuer     TEXT COLLATE "C" NOT NULL,
    -- The person at the issuer.
    subject    TEXT COLLATE "C" NOT NULL,
    account_id TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (issuer, subject)
);
