-- Stored payment instruments. Their tokens are encrypted. A deleted instrument has no token and
-- is kept, so that its id is never reused.
CREATE TABLE payment_instrument (
    organization TEXT COLLATE "C" NOT NULL,
    mode         TEXT COLLATE "C" NOT NULL CHECK (mode IN ('test', 'live')),
    id           TEXT COLLATE "C" NOT NULL,
    user_id      TEXT COLLATE "C" NOT NULL,
    processor    TEXT COLLATE "C" NOT NULL,
    sealed_token BYTEA NOT NULL,
    card         TEXT COLLATE "C",
    created_at   BIGINT NOT NULL,
    deleted_at   BIGINT,
    PRIMARY KEY (organization, mode, id)
);
CREATE INDEX payment_instrument_list ON payment_instrument (user_id, organization, mode, created_at, id);
