-- Mandates, and the keys that they are signed with. Twin of the file of the same name
-- for SQLite: same tables, columns and nullability.

-- The terms never change. `booking_id` and `payment_jws` are there exactly while it is
-- CONSUMED. That its time is over is not stored.
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

-- The keys of the whole installation; the highest generation signs new mandates. None
-- is ever deleted, so that what was signed can be verified.
CREATE TABLE mandate_key (
    kid                TEXT COLLATE "C" NOT NULL,
    generation         BIGINT NOT NULL,
    public_jwk         TEXT COLLATE "C" NOT NULL,
    sealed_private_key BYTEA NOT NULL,
    created_at         BIGINT NOT NULL,
    PRIMARY KEY (kid)
);
-- Hosts that make a key at the same time want the same generation: one of them gets it.
CREATE UNIQUE INDEX mandate_key_generation ON mandate_key (generation);
