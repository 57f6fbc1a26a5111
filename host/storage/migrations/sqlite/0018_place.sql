-- Places from suppliers' search results. All organizations of a mode share them.
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
