-- Hotel bookings and the tables that all products share. The file of the same name for
-- PostgreSQL creates the same tables, columns and nullability.
--
-- Times are milliseconds since 1970 UTC, money is in minor units with a currency column, and
-- documents are JSON. Primary keys of tables that belong to an organization start with it, so
-- that the tables can be partitioned by organization.

CREATE TABLE hotel_booking (
    organization       TEXT NOT NULL,
    mode               TEXT NOT NULL CHECK (mode IN ('test', 'live')),
    id                 TEXT NOT NULL,
    user_id            TEXT NOT NULL,
    status             TEXT NOT NULL,
    supplier           TEXT NOT NULL,
    supplier_reference TEXT,
    reference_id       TEXT,
    hotel_id           TEXT NOT NULL,
    total_minor        INTEGER NOT NULL,
    currency           TEXT NOT NULL,
    created_at         INTEGER NOT NULL,
    updated_at         INTEGER NOT NULL,
    version            INTEGER NOT NULL,
    document           TEXT NOT NULL,
    PRIMARY KEY (organization, mode, id)
) STRICT;
-- Background work finds a booking by its id alone. The index need not be unique, because ids
-- have 128 bits; a table partitioned by organization could not enforce uniqueness.
CREATE INDEX hotel_booking_id ON hotel_booking (id);
-- Indexes of the list, newest first, one for each filter.
CREATE INDEX hotel_booking_list ON hotel_booking (organization, mode, user_id, created_at, id);
CREATE INDEX hotel_booking_list_status ON hotel_booking (organization, mode, user_id, status, created_at, id);
CREATE INDEX hotel_booking_list_reference ON hotel_booking (organization, mode, user_id, reference_id, created_at, id);

-- The history of bookings of all products, hence without a foreign key.
CREATE TABLE booking_event (
    organization TEXT NOT NULL,
    mode         TEXT NOT NULL CHECK (mode IN ('test', 'live')),
    booking_id   TEXT NOT NULL,
    sequence     INTEGER NOT NULL,
    event        TEXT NOT NULL,
    from_status  TEXT,
    to_status    TEXT NOT NULL,
    why          TEXT,
    request_id   TEXT,
    at           INTEGER NOT NULL,
    PRIMARY KEY (organization, mode, booking_id, sequence)
) STRICT, WITHOUT ROWID;

-- Events for subscribers, byte for byte as they are signed.
CREATE TABLE outbox (
    organization TEXT NOT NULL,
    mode         TEXT NOT NULL CHECK (mode IN ('test', 'live')),
    id           TEXT NOT NULL,
    event_type   TEXT NOT NULL,
    product      TEXT NOT NULL CHECK (product IN ('hotel', 'flight')),
    booking_id   TEXT,
    payload      TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    PRIMARY KEY (organization, mode, id)
) STRICT;
CREATE INDEX outbox_booking ON outbox (organization, mode, booking_id, created_at, id);

-- Remote calls that may change data at a supplier or processor. Each is recorded before its
-- first byte is sent.
CREATE TABLE supplier_attempt (
    organization       TEXT NOT NULL,
    mode               TEXT NOT NULL CHECK (mode IN ('test', 'live')),
    id                 TEXT NOT NULL,
    booking_id         TEXT NOT NULL,
    operation          TEXT NOT NULL,
    ordinal            INTEGER NOT NULL,
    target             TEXT NOT NULL,
    client_reference   TEXT NOT NULL,
    plugin_digest      TEXT NOT NULL,
    request_digest     TEXT NOT NULL,
    outcome            TEXT NOT NULL CHECK (outcome IN ('sent', 'done', 'refused', 'not_sent', 'unknown')),
    sends              INTEGER NOT NULL,
    checks             INTEGER NOT NULL,
    dispatched_at      INTEGER NOT NULL,
    finished_at        INTEGER,
    supplier_reference TEXT,
    evidence           TEXT,
    PRIMARY KEY (organization, mode, id)
) STRICT;
CREATE UNIQUE INDEX supplier_attempt_ordinal ON supplier_attempt (organization, mode, booking_id, operation, ordinal);
-- For each reference there is at most one call that happened or may have happened.
CREATE UNIQUE INDEX supplier_attempt_effective ON supplier_attempt (organization, mode, target, operation, client_reference)
    WHERE outcome IN ('sent', 'unknown', 'done');
-- Serves the operators' list of unresolved calls.
CREATE INDEX supplier_attempt_unresolved ON supplier_attempt (dispatched_at)
    WHERE outcome IN ('sent', 'unknown');

-- Background jobs. The key does not contain an organization: jobs of all organizations are
-- claimed in the order of their due times, and the table is small.
CREATE TABLE job (
    kind        TEXT NOT NULL,
    subject     TEXT NOT NULL,
    due_at      INTEGER NOT NULL,
    again_at    INTEGER,
    lease_token TEXT,
    lease_until INTEGER,
    attempts    INTEGER NOT NULL,
    parked_at   INTEGER,
    last_error  TEXT,
    created_at  INTEGER NOT NULL,
    PRIMARY KEY (kind, subject)
) STRICT, WITHOUT ROWID;
CREATE INDEX job_due ON job (due_at) WHERE parked_at IS NULL;
CREATE INDEX job_parked ON job (parked_at) WHERE parked_at IS NOT NULL;

CREATE TABLE idempotency (
    organization    TEXT NOT NULL,
    mode            TEXT NOT NULL CHECK (mode IN ('test', 'live')),
    user_id         TEXT NOT NULL,
    operation       TEXT NOT NULL,
    idempotency_key TEXT NOT NULL,
    fingerprint     TEXT NOT NULL,
    resource_id     TEXT NOT NULL,
    refusal         TEXT,
    created_at      INTEGER NOT NULL,
    PRIMARY KEY (organization, mode, user_id, operation, idempotency_key)
) STRICT;
CREATE INDEX idempotency_created ON idempotency (created_at);

CREATE TABLE api_key (
    organization TEXT NOT NULL,
    mode         TEXT NOT NULL CHECK (mode IN ('test', 'live')),
    id           TEXT NOT NULL,
    name         TEXT NOT NULL,
    scopes       TEXT NOT NULL,
    hint         TEXT NOT NULL,
    sha256       BLOB NOT NULL,
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER,
    last_used_at INTEGER,
    revoked_at   INTEGER,
    PRIMARY KEY (organization, mode, id)
) STRICT;
-- A caller is identified by the key alone.
CREATE UNIQUE INDEX api_key_sha256 ON api_key (sha256);
CREATE UNIQUE INDEX api_key_id ON api_key (id);

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
CREATE INDEX payment_instrument_list ON payment_instrument (organization, mode, user_id, created_at, id);

-- Hotels, places and hotel content do not depend on a customer. All organizations of a mode
-- share them, and a hotel's id does not depend on which organization searched first.
CREATE TABLE hotel_map (
    mode              TEXT NOT NULL CHECK (mode IN ('test', 'live')),
    supplier          TEXT NOT NULL,
    supplier_hotel_id TEXT NOT NULL,
    hotel_id          TEXT NOT NULL,
    name              TEXT,
    location          TEXT,
    time_zone         TEXT,
    created_at        INTEGER NOT NULL,
    PRIMARY KEY (mode, supplier, supplier_hotel_id)
) STRICT;
CREATE INDEX hotel_map_hotel ON hotel_map (mode, hotel_id);

CREATE TABLE place (
    mode              TEXT NOT NULL CHECK (mode IN ('test', 'live')),
    id                TEXT NOT NULL,
    supplier          TEXT NOT NULL,
    supplier_place_id TEXT NOT NULL,
    document          TEXT NOT NULL,
    created_at        INTEGER NOT NULL,
    PRIMARY KEY (mode, id)
) STRICT;
CREATE UNIQUE INDEX place_supplier ON place (mode, supplier, supplier_place_id);

CREATE TABLE hotel_content (
    mode              TEXT NOT NULL CHECK (mode IN ('test', 'live')),
    supplier          TEXT NOT NULL,
    supplier_hotel_id TEXT NOT NULL,
    part              TEXT NOT NULL CHECK (part IN ('details', 'reviews')),
    document          TEXT NOT NULL,
    fetched_at        INTEGER NOT NULL,
    PRIMARY KEY (mode, supplier, supplier_hotel_id, part)
) STRICT;

-- A few values of the whole installation.
CREATE TABLE setting (
    name  TEXT NOT NULL PRIMARY KEY,
    value BLOB NOT NULL
) STRICT;
