-- Hotel bookings and the machinery that every product shares. Twin of the file
-- of the same name for SQLite: same tables, columns and nullability.
--
-- Times are milliseconds since 1970 UTC, money is minor units beside its
-- currency, documents are JSON. Keys of what belongs to an organization begin
-- with it, so that the tables can be spread by organization. Text is ordered by
-- its bytes, as SQLite does.

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
-- Background work knows a booking by nothing but its id. Ids are 128 bits, so
-- this need not be unique, which a table spread by organization could not check.
CREATE INDEX hotel_booking_id ON hotel_booking (id);
-- The list, newest first, with each of its filters.
CREATE INDEX hotel_booking_list ON hotel_booking (organization, mode, user_id, created_at, id);
CREATE INDEX hotel_booking_list_status ON hotel_booking (organization, mode, user_id, status, created_at, id);
CREATE INDEX hotel_booking_list_reference ON hotel_booking (organization, mode, user_id, reference_id, created_at, id);

-- The history of bookings of every product; hence no foreign key.
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

-- What subscribers are to be told, exactly as it will be signed.
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

-- Calls to suppliers and processors that may change something, written before
-- their first byte leaves.
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
-- At most one call that happened, or may have happened, for one reference.
CREATE UNIQUE INDEX supplier_attempt_effective ON supplier_attempt (organization, mode, target, operation, client_reference)
    WHERE outcome IN ('sent', 'unknown', 'done');
-- The operator's list.
CREATE INDEX supplier_attempt_unresolved ON supplier_attempt (dispatched_at)
    WHERE outcome IN ('sent', 'unknown');

-- Work that is due. Not keyed by organization: it is claimed in the order of
-- its due time whoever it belongs to, and it is small.
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
-- A caller is known by nothing but the key.
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

-- Hotels, places and content describe the world, not a customer: they are the
-- same for every organization of a mode, and a hotel's id stays the same
-- whoever asks first.
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

-- Few values of the whole installation.
CREATE TABLE setting (
    name  TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    value BYTEA NOT NULL
);
