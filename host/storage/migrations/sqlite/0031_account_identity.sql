-- The identities by which single sign-on (OpenID Connect) knows accounts.
CREATE TABLE account_identity (
    issuer     TEXT NOT NULL,
    -- The person at the issuer.
    subject    TEXT NOT NULL,
    account_id TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (issuer, subject)
) STRICT, WITHOUT ROWID;
