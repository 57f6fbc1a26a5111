-- The gateway's ids of the suppliers' hotels. All organizations of a mode share them: a hotel's
-- id does not depend on which organization searched first.
CREATE TABLE hotel_mapping (
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
CREATE INDEX hotel_mapping_hotel ON hotel_mapping (mode, hotel_id);
