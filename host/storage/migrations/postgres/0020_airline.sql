-- Airlines as suppliers last reported them, shared and identified as airports are.
CREATE TABLE airline (
    mode       TEXT COLLATE "C" NOT NULL CHECK (mode IN ('test', 'live')),
    iata_code  TEXT COLLATE "C" NOT NULL,
    id         TEXT COLLATE "C" NOT NULL,
    supplier   TEXT COLLATE "C" NOT NULL,
    document   TEXT COLLATE "C" NOT NULL,
    fetched_at BIGINT NOT NULL,
    PRIMARY KEY (mode, iata_code)
);
