-- Watches and their price checks.

-- A price check, shared by all watches of a tenant with the same query: its id is derived from
-- the query. It exists as long as an open watch uses it. `watch_revision` counts the requests
-- of watches, so that the row is not deleted while a watch is being added.
CREATE TABLE price_check (
    organization     TEXT NOT NULL,
    mode             TEXT NOT NULL CHECK (mode IN ('test', 'live')),
    id               TEXT NOT NULL,
    query            TEXT NOT NULL,
    next_check_at    INTEGER NOT NULL,
    lease_token      TEXT,
    lease_expires_at INTEGER,
    watch_revision   INTEGER NOT NULL,
    last_checked_at  INTEGER,
    last_total_minor INTEGER,
    created_at       INTEGER NOT NULL,
    PRIMARY KEY (organization, mode, id)
) STRICT;
CREATE INDEX price_check_due ON price_check (next_check_at);

-- An open watch has the price last observed by its price check. A closed one keeps that price
-- in its own row.
CREATE TABLE watch (
    organization     TEXT NOT NULL,
    mode             TEXT NOT NULL CHECK (mode IN ('test', 'live')),
    id               TEXT NOT NULL,
    user_id          TEXT NOT NULL,
    price_check_id   TEXT NOT NULL,
    status           TEXT NOT NULL CHECK (status IN ('active', 'triggered', 'purchasing', 'purchased', 'purchase_failed', 'expired', 'canceled')),
    trigger_minor    INTEGER NOT NULL,
    last_checked_at  INTEGER,
    last_total_minor INTEGER,
    created_at       INTEGER NOT NULL,
    updated_at       INTEGER NOT NULL,
    version          INTEGER NOT NULL,
    document         TEXT NOT NULL,
    PRIMARY KEY (organization, mode, id)
) STRICT;
-- Background work finds a watch by its id alone. The index need not be unique, because ids
-- have 128 bits; a table partitioned by organization could not enforce uniqueness.
CREATE INDEX watch_id ON watch (id);
-- Indexes of the lists, newest first.
CREATE INDEX watch_list ON watch (user_id, organization, mode, created_at, id);
CREATE INDEX watch_list_status ON watch (user_id, organization, mode, status, created_at, id);
-- Finds the watches affected by a price, and whether an open watch uses a price check.
CREATE INDEX watch_price_check ON watch (price_check_id, organization, mode, status, trigger_minor);
