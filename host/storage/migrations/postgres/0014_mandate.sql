-- Mandates and their signing keys.

-- The terms of a mandate never change. `booking_id` and `payment_jws` are set exactly if the
-- status is CONSUMED. Expiry is not stored.
CREATE TABLE mandate (
    organization  TEXT COLLATE "C" NOT NULL,
    mode          TEXT COLLATE "C" NOT NULL CHECK (mode IN ('test', 'live')),
    id            TEXT COLLATE "C" NOT NULL,
    user_id       TEXT COLLATE "C" NOT NULL,
    amount_minor  BIGINT NOT NULL,
    currency      TEXT COLLATE "C" NOT NULL,
    instrument_id TEXT COLLATE "C" NOT NULL,
    scope         TEXT COLLATE "C" NOT NULL,
    created_at    BIGINT NOT NULL,
    expires_at    BIGINT NOT NULL,
    jws           TEXT COLLATE "C" NOT NULL,
    status        TEXT COLLATE "C" NOT NULL CHECK (status IN ('ACTIVE', 'CONSUMED', 'REVOKED')),
    booking_id    TEXT COLLATE "C",
    payment_jws   TEXT COLLATE "C",
    version       BIGINT NOT NULL,
    PRIMARY KEY (organization, mode, id),
    CHECK ((status = 'CONSUMED') = (booking_id IS NOT NULL)),
    CHECK ((status = 'CONSUMED') = (payment_jws IS NOT NULL))
);

-- Signing keys of the whole installation. The highest generation signs new mandates. Keys are
-- never deleted, so that old signatures can be verified.
CREATE TABLE mandate_key (
    kid                TEXT COLLATE "C" NOT NULL,
    generation         BIGINT NOT NULL,
    public_jwk         TEXT COLLATE "C" NOT NULL,
    sealed_private_key BYTEA NOT NULL,
    created_at         BIGINT NOT NULL,
    PRIMARY KEY (kid)
);
-- Hosts that create a key at the same time use the same generation, and only one of them
-- succeeds.
CREATE UNIQUE INDEX mandate_key_generation ON mandate_key (generation);
