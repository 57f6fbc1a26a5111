-- Watches and their price checks.

-- A price check, shared by all watches of a tenant with the same query: its id is derived from
-- the query. It exists as long as an open watch uses it. `watch_revision` counts the requests
-- of watches, so that the row is not deleted while a watch is being added.
CREATE TABLE price_check (
    organization     TEXT COLLATE "C" NOT NULL,
    mode             TEXT COLLATE "C" NOT NULL CHECK (mode IN ('test', 'live')),
    id               TEXT COLLATE "C" NOT NULL,
    query            TEXT COLLATE "C" NOT NULL,
    next_check_at    BIGINT NOT NULL,
    lease_token      TEXT COLLATE "C",
    lease_expires_at BIGINT,
    watch_revision   BIGINT NOT NULL,
    last_checked_at  BIGINT,
    last_total_minor BIGINT,
    created_at       BIGINT NOT NULL,
    PRIMARY KEY (organization, mode, id)
);
-- Each check updates the row and moves it in its index.
ALTER TABLE price_check SET (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX price_check_due ON price_check (next_check_at);

-- An open watch has the price last observed by its price check. A closed one keeps that price
-- in its own row.
CREATE TABLE watch (
    organization     TEXT COLLATE "C" NOT NULL,
    mode             TEXT COLLATE "C" NOT NULL CHECK (mode IN ('test', 'live')),
    id               TEXT COLLATE "C" NOT NULL,
    user_id          TEXT COLLATE "C" NOT NULL,
    price_check_id   TEXT COLLATE "C" NOT NULL,
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
CREATE INDEX watch_list ON watch (user_id, organization, mode, created_at, id);
CREATE INDEX watch_list_status ON watch (user_id, organization, mode, status, created_at, id);
-- Finds the watches affected by a price, and whether an open watch uses a price check.
CREATE INDEX watch_price_check ON watch (price_check_id, organization, mode, status, trigger_minor);
