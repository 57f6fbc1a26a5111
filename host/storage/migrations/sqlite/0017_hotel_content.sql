-- The latest hotel content from suppliers. All organizations of a mode share it.
CREATE TABLE hotel_content (
    mode              TEXT NOT NULL CHECK (mode IN ('test', 'live')),
    supplier          TEXT NOT NULL,
    supplier_hotel_id TEXT NOT NULL,
    part              TEXT NOT NULL CHECK (part IN ('details', 'reviews')),
    document          TEXT NOT NULL,
    fetched_at        INTEGER NOT NULL,
    PRIMARY KEY (mode, supplier, supplier_hotel_id, part)
) STRICT;
