-- Events from suppliers, stored before they are processed. Suppliers belong to no
-- organization, so neither do their events.
CREATE TABLE supplier_event (
    mode               TEXT COLLATE "C" NOT NULL CHECK (mode IN ('test', 'live')),
    supplier           TEXT COLLATE "C" NOT NULL,
    id                 TEXT COLLATE "C" NOT NULL,
    kind               TEXT COLLATE "C" NOT NULL,
    supplier_reference TEXT COLLATE "C",
    client_reference   TEXT COLLATE "C",
    supplier_offer     TEXT COLLATE "C",
    occurred_at        BIGINT,
    body_sha256        BYTEA NOT NULL,
    state              TEXT COLLATE "C" NOT NULL CHECK (state IN ('received', 'applied', 'ignored')),
    booking_id         TEXT COLLATE "C",
    received_at        BIGINT NOT NULL,
    processed_at       BIGINT,
    PRIMARY KEY (mode, supplier, id)
);
-- Serves the deletion of old events.
CREATE INDEX supplier_event_received ON supplier_event (received_at);
