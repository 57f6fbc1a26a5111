-- Places from suppliers' search results. All organizations of a mode share them.
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
