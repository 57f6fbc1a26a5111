-- The latest hotel content from suppliers. All organizations of a mode share it.
CREATE TABLE hotel_content (
    mode              TEXT COLLATE "C" NOT NULL CHECK (mode IN ('test', 'live')),
    supplier          TEXT COLLATE "C" NOT NULL,
    supplier_hotel_id TEXT COLLATE "C" NOT NULL,
    part              TEXT COLLATE "C" NOT NULL CHECK (part IN ('details', 'reviews')),
    document          TEXT COLLATE "C" NOT NULL,
    fetched_at        BIGINT NOT NULL,
    PRIMARY KEY (mode, supplier, supplier_hotel_id, part)
);
