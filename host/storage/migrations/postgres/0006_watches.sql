-- Watches and their price checks. The file of the same name for SQLite creates the same
-- tables, columns and nullability.

-- A price check, shared by all watches of a tenant with the same query: its id is derived from
-- the query. It exists as long as an open watch uses it. `watch_revision` counts the requests
-- of watches, so that the row is not deleted while a watch is being added.
CREATE TABLE watch_ask (
    organization     TEXT COLLATE "C" NOT NULL,
    mode             TEXT COLLATE "C" NOT NULL CHECK (mode IN ('test', 'live')),
    id               TEXT COLLATE "C" NOT NULL,
    question         TEXT COLLATE "C" NOT NULL,
    next_at          BIGINT NOT NULL,
    lease_token      TEXT COLLATE "C",
    lease_until      BIGINT,
    revision         BIGINT NOT NULL,
    last_checked_at  BIGINT,
    last_total_minor BIGINT,
    created_at       BIGINT NOT NULL,
    PRIMARY KEY (organization, mode, id)
);
-- Each check updates the row and moves it in its index.
ALTER TABLE watch_ask SET (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX watch_ask_due ON watch_ask (next_at);

-- An open watch has the price last observed by its price check. A closed one keeps that price
-- in its own row.
CREATE TABLE watch (
    organization     TEXT COLLATE "C" NOT NULL,
    mode             TEXT COLLATE "C" NOT NULL CHECK (mode IN ('test', 'live')),
    id               TEXT COLLATE "C" NOT NULL,
    user_id          TEXT COLLATE "C" NOT NULL,
    ask_id           TEXT COLLATE "C" NOT NULL,
    status           TEXT COLLATE "C" NOT NULL CHECK (status IN ('active', 'triggered', 'purchasing', 'purchased', 'purchase_failed', 'expired', 'canceled')),
    trigger_minor    BIGINT NOT NULL,
    last_checked_at  BIGINT,
    last_total_minor BIGINT,
    created_at       BIGINT NOT NULL,
    updated_at       BIGINT NOT NULL,
    version          BIGINT NOT NULL,
    document         TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (organization, mode, id)
);
-- Background work finds a watch by its id alone. The index need not be unique, because ids
-- have 128 bits; a table partitioned by organization could not enforce uniqueness.
CREATE INDEX watch_id ON watch (id);
-- Indexes of the lists, newest first.
CREATE INDEX watch_list ON watch (organization, mode, user_id, created_at, id);
CREATE INDEX watch_list_status ON watch (organization, mode, user_id, status, created_at, id);
-- Finds the watches affected by a price, and whether an open watch uses a price check.
CREATE INDEX watch_of_ask ON watch (organization, mode, ask_id, status, trigger_minor);
