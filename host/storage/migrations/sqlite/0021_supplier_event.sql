-- Events from suppliers, stored before they are processed. Suppliers belong to no
-- organization, so neither do their events.
CREATE TABLE supplier_event (
    mode               TEXT NOT NULL CHECK (mode IN ('test', 'live')),
    supplier           TEXT NOT NULL,
    id                 TEXT NOT NULL,
    kind               TEXT NOT NULL,
    supplier_reference TEXT,
    client_reference   TEXT,
    supplier_offer     TEXT,
    occurred_at        INTEGER,
    body_sha256        BLOB NOT NULL,
    state              TEXT NOT NULL CHECK (state IN ('received', 'applied', 'ignored')),
    booking_id         TEXT,
    received_at        INTEGER NOT NULL,
    processed_at       INTEGER,
    PRIMARY KEY (mode, supplier, id)
) STRICT;
-- Serves the deletion of old events.
CREATE INDEX supplier_event_received ON supplier_event (received_at);
