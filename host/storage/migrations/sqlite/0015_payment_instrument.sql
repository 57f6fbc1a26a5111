-- Stored payment instruments. Their tokens are encrypted. A deleted instrument has no token and
-- is kept, so that its id is never reused.
CREATE TABLE payment_instrument (
    organization TEXT NOT NULL,
    mode         TEXT NOT NULL CHECK (mode IN ('test', 'live')),
    id           TEXT NOT NULL,
    user_id      TEXT NOT NULL,
    processor    TEXT NOT NULL,
    sealed_token BLOB NOT NULL,
    card         TEXT,
    created_at   INTEGER NOT NULL,
    deleted_at   INTEGER,
    PRIMARY KEY (organization, mode, id)
) STRICT;
CREATE INDEX payment_instrument_list ON payment_instrument (user_id, organization, mode, created_at, id);
