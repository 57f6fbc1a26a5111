-- Mandates, and the keys that they are signed with. Twin of the file of the same name
-- for PostgreSQL: same tables, columns and nullability.

-- The terms never change. `booking_id` and `payment_jws` are there exactly while it is
-- CONSUMED. That its time is over is not stored.
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

-- The keys of the whole installation; the highest generation signs new mandates. None
-- is ever deleted, so that what was signed can be verified.
CREATE TABLE mandate_key (
    kid                TEXT NOT NULL,
    generation         INTEGER NOT NULL,
    public_jwk         TEXT NOT NULL,
    sealed_private_key BLOB NOT NULL,
    created_at         INTEGER NOT NULL,
    PRIMARY KEY (kid)
) STRICT;
-- Hosts that make a key at the same time want the same generation: one of them gets it.
CREATE UNIQUE INDEX mandate_key_generation ON mandate_key (generation);
