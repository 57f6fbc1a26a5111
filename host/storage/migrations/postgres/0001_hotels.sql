-- Hotel bookings and the tables that all products share. The file of the same name for SQLite
-- creates the same tables, columns and nullability.
--
-- Times are milliseconds since 1970 UTC, money is in minor units with a currency column, and
-- documents are JSON. Primary keys of tables that belong to an organization start with it, so
-- that the tables can be partitioned by organization. Text is ordered by its bytes, as in
-- SQLite.

CREATE TABLE hotel_booking (
    organization       TEXT COLLATE "C" NOT NULL,
    mode               TEXT COLLATE "C" NOT NULL CHECK (mode IN ('test', 'live')),
    id                 TEXT COLLATE "C" NOT NULL,
    user_id            TEXT COLLATE "C" NOT NULL,
    status             TEXT COLLATE "C" NOT NULL,
    supplier           TEXT COLLATE "C" NOT NULL,
    supplier_reference TEXT COLLATE "C",
    reference_id       TEXT COLLATE "C",
    hotel_id           TEXT COLLATE "C" NOT NULL,
    total_minor        BIGINT NOT NULL,
    currency           TEXT COLLATE "C" NOT NULL,
    created_at         BIGINT NOT NULL,
    updated_at         BIGINT NOT NULL,
    version            BIGINT NOT NULL,
    document           TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (organization, mode, id)
);
-- Background work finds a booking by its id alone. The index need not be unique, because ids
-- have 128 bits; a table partitioned by organization could not enforce uniqueness.
CREATE INDEX hotel_booking_id ON hotel_booking (id);
-- Indexes of the list, newest first, one for each filter.
CREATE INDEX hotel_booking_list ON hotel_booking (organization, mode, user_id, created_at, id);
CREATE INDEX hotel_booking_list_status ON hotel_booking (organization, mode, user_id, status, created_at, id);
CREATE INDEX hotel_booking_list_reference ON hotel_booking (organization, mode, user_id, reference_id, created_at, id);

-- The history of bookings of all products, hence without a foreign key.
CREATE TABLE booking_event (
    organization TEXT COLLATE "C" NOT NULL,
    mode         TEXT COLLATE "C" NOT NULL CHECK (mode IN ('test', 'live')),
    booking_id   TEXT COLLATE "C" NOT NULL,
    sequence     BIGINT NOT NULL,
    event        TEXT COLLATE "C" NOT NULL,
    from_status  TEXT COLLATE "C",
    to_status    TEXT COLLATE "C" NOT NULL,
    why          TEXT COLLATE "C",
    request_id   TEXT COLLATE "C",
    at           BIGINT NOT NULL,
    PRIMARY KEY (organization, mode, booking_id, sequence)
);

-- Events for subscribers, byte for byte as they are signed.
CREATE TABLE outbox (
    organization TEXT COLLATE "C" NOT NULL,
    mode         TEXT COLLATE "C" NOT NULL CHECK (mode IN ('test', 'live')),
    id           TEXT COLLATE "C" NOT NULL,
    event_type   TEXT COLLATE "C" NOT NULL,
    product      TEXT COLLATE "C" NOT NULL CHECK (product IN ('hotel', 'flight')),
    booking_id   TEXT COLLATE "C",
    payload      TEXT COLLATE "C" NOT NULL,
    created_at   BIGINT NOT NULL,
    PRIMARY KEY (organization, mode, id)
);
CREATE INDEX outbox_booking ON outbox (organization, mode, booking_id, created_at, id);

-- Remote calls that may change data at a supplier or processor. Each is recorded before its
-- first byte is sent.
CREATE TABLE supplier_attempt (
    organization       TEXT COLLATE "C" NOT NULL,
    mode               TEXT COLLATE "C" NOT NULL CHECK (mode IN ('test', 'live')),
    id                 TEXT COLLATE "C" NOT NULL,
    booking_id         TEXT COLLATE "C" NOT NULL,
    operation          TEXT COLLATE "C" NOT NULL,
    ordinal            BIGINT NOT NULL,
    target             TEXT COLLATE "C" NOT NULL,
    client_reference   TEXT COLLATE "C" NOT NULL,
    plugin_digest      TEXT COLLATE "C" NOT NULL,
    request_digest     TEXT COLLATE "C" NOT NULL,
    outcome            TEXT COLLATE "C" NOT NULL CHECK (outcome IN ('sent', 'done', 'refused', 'not_sent', 'unknown')),
    sends              BIGINT NOT NULL,
    checks             BIGINT NOT NULL,
    dispatched_at      BIGINT NOT NULL,
    finished_at        BIGINT,
    supplier_reference TEXT COLLATE "C",
    evidence           TEXT COLLATE "C",
    PRIMARY KEY (organization, mode, id)
);
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
    kind        TEXT COLLATE "C" NOT NULL,
    subject     TEXT COLLATE "C" NOT NULL,
    due_at      BIGINT NOT NULL,
    again_at    BIGINT,
    lease_token TEXT COLLATE "C",
    lease_until BIGINT,
    attempts    BIGINT NOT NULL,
    parked_at   BIGINT,
    last_error  TEXT COLLATE "C",
    created_at  BIGINT NOT NULL,
    PRIMARY KEY (kind, subject)
);
CREATE INDEX job_due ON job (due_at) WHERE parked_at IS NULL;
CREATE INDEX job_parked ON job (parked_at) WHERE parked_at IS NOT NULL;

CREATE TABLE idempotency (
    organization    TEXT COLLATE "C" NOT NULL,
    mode            TEXT COLLATE "C" NOT NULL CHECK (mode IN ('test', 'live')),
    user_id         TEXT COLLATE "C" NOT NULL,
    operation       TEXT COLLATE "C" NOT NULL,
    idempotency_key TEXT COLLATE "C" NOT NULL,
    fingerprint     TEXT COLLATE "C" NOT NULL,
    resource_id     TEXT COLLATE "C" NOT NULL,
    refusal         TEXT COLLATE "C",
    created_at      BIGINT NOT NULL,
    PRIMARY KEY (organization, mode, user_id, operation, idempotency_key)
);
CREATE INDEX idempotency_created ON idempotency (created_at);

CREATE TABLE api_key (
    organization TEXT COLLATE "C" NOT NULL,
    mode         TEXT COLLATE "C" NOT NULL CHECK (mode IN ('test', 'live')),
    id           TEXT COLLATE "C" NOT NULL,
    name         TEXT COLLATE "C" NOT NULL,
    scopes       TEXT COLLATE "C" NOT NULL,
    hint         TEXT COLLATE "C" NOT NULL,
    sha256       BYTEA NOT NULL,
    created_at   BIGINT NOT NULL,
    expires_at   BIGINT,
    last_used_at BIGINT,
    revoked_at   BIGINT,
    PRIMARY KEY (organization, mode, id)
);
-- A caller is identified by the key alone.
CREATE UNIQUE INDEX api_key_sha256 ON api_key (sha256);
CREATE UNIQUE INDEX api_key_id ON api_key (id);

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
CREATE INDEX payment_instrument_list ON payment_instrument (organization, mode, user_id, created_at, id);

-- Hotels, places and hotel content do not depend on a customer. All organizations of a mode
-- share them, and a hotel's id does not depend on which organization searched first.
CREATE TABLE hotel_map (
    mode              TEXT COLLATE "C" NOT NULL CHECK (mode IN ('test', 'live')),
    supplier          TEXT COLLATE "C" NOT NULL,
    supplier_hotel_id TEXT COLLATE "C" NOT NULL,
    hotel_id          TEXT COLLATE "C" NOT NULL,
    name              TEXT COLLATE "C",
    location          TEXT COLLATE "C",
    time_zone         TEXT COLLATE "C",
    created_at        BIGINT NOT NULL,
    PRIMARY KEY (mode, supplier, supplier_hotel_id)
);
CREATE INDEX hotel_map_hotel ON hotel_map (mode, hotel_id);

CREATE TABLE place (
    mode              TEXT COLLATE "C" NOT NULL CHECK (mode IN ('test', 'live')),
    id                TEXT COLLATE "C" NOT NULL,
    supplier          TEXT COLLATE "C" NOT NULL,
    supplier_place_id TEXT COLLATE "C" NOT NULL,
    document          TEXT COLLATE "C" NOT NULL,
    created_at        BIGINT NOT NULL,
    PRIMARY KEY (mode, id)
);
CREATE UNIQUE INDEX place_supplier ON place (mode, supplier, supplier_place_id);

CREATE TABLE hotel_content (
    mode              TEXT COLLATE "C" NOT NULL CHECK (mode IN ('test', 'live')),
    supplier          TEXT COLLATE "C" NOT NULL,
    supplier_hotel_id TEXT COLLATE "C" NOT NULL,
    part              TEXT COLLATE "C" NOT NULL CHECK (part IN ('details', 'reviews')),
    document          TEXT COLLATE "C" NOT NULL,
    fetched_at        BIGINT NOT NULL,
    PRIMARY KEY (mode, supplier, supplier_hotel_id, part)
);

-- A few values of the whole installation.
CREATE TABLE setting (
    name  TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    value BYTEA NOT NULL
);
