-- Airports as suppliers last reported them. All organizations of a mode share them. They are
-- identified by IATA code, whichever supplier reports them, so an id stays the same if another
-- supplier is used.
CREATE TABLE airport (
    mode       TEXT COLLATE "C" NOT NULL CHECK (mode IN ('test', 'live')),
    iata_code  TEXT COLLATE "C" NOT NULL,
    id         TEXT COLLATE "C" NOT NULL,
    supplier   TEXT COLLATE "C" NOT NULL,
    document   TEXT COLLATE "C" NOT NULL,
    fetched_at BIGINT NOT NULL,
    PRIMARY KEY (mode, iata_code)
);
