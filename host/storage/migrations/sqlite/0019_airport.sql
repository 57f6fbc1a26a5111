-- Airports as suppliers last reported them. All organizations of a mode share them. They are
-- identified by IATA code, whichever supplier reports them, so an id stays the same if another
-- supplier is used.
CREATE TABLE airport (
    mode       TEXT NOT NULL CHECK (mode IN ('test', 'live')),
    iata_code  TEXT NOT NULL,
    id         TEXT NOT NULL,
    supplier   TEXT NOT NULL,
    document   TEXT NOT NULL,
    fetched_at INTEGER NOT NULL,
    PRIMARY KEY (mode, iata_code)
) STRICT;
