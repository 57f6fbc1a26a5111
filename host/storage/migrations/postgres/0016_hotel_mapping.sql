-- The gateway's ids of the suppliers' hotels. All organizations of a mode share them: a hotel's
-- id does not depend on which organization searched first.
CREATE TABLE hotel_mapping (
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
CREATE INDEX hotel_mapping_hotel ON hotel_mapping (mode, hotel_id);
