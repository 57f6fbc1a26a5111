-- Airlines as suppliers last reported them, shared and identified as airports are.
CREATE TABLE airline (
    mode       TEXT NOT NULL CHECK (mode IN ('test', 'live')),
    iata_code  TEXT NOT NULL,
    id         TEXT NOT NULL,
    supplier   TEXT NOT NULL,
    document   TEXT NOT NULL,
    fetched_at INTEGER NOT NULL,
    PRIMARY KEY (mode, iata_code)
) STRICT;
