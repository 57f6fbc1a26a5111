-- Mandates and their signing keys.

-- The terms of a mandate never change. `booking_id` and `payment_jws` are set exactly if the
-- status is CONSUMED. Expiry is not stored.
CREATE TABLE mandate (
    organization  TEXT NOT NULL,
    mode          TEXT NOT NULL CHECK (mode IN ('test', 'live')),
    id            TEXT NOT NULL,
    user_id       TEXT NOT NULL,
    amount_minor  INTEGER NOT NULL,
    currency      TEXT NOT NULL,
    instrument_id TEXT NOT NULL,
    scope         TEXT NOT NULL,
    created_at    INTEGER NOT NULL,
    expires_at    INTEGER NOT NULL,
    jws           TEXT NOT NULL,
    status        TEXT NOT NULL CHECK (status IN ('ACTIVE', 'CONSUMED', 'REVOKED')),
    booking_id    TEXT,
    payment_jws   TEXT,
    version       INTEGER NOT NULL,
    PRIMARY KEY (organization, mode, id),
    CHECK ((status = 'CONSUMED') = (booking_id IS NOT NULL)),
    CHECK ((status = 'CONSUMED') = (payment_jws IS NOT NULL))
) STRICT;

-- Signing keys of the whole installation. The highest generation signs new mandates. Keys are
-- never deleted, so that old signatures can be verified.
CREATE TABLE mandate_key (
    kid                TEXT NOT NULL,
    generation         INTEGER NOT NULL,
    public_jwk         TEXT NOT NULL,
    sealed_private_key BLOB NOT NULL,
    created_at         INTEGER NOT NULL,
    PRIMARY KEY (kid)
) STRICT;
-- Hosts that create a key at the same time use the same generation, and only one of them
-- succeeds.
CREATE UNIQUE INDEX mandate_key_generation ON mandate_key (generation);
