-- Watches and their price checks. The file of the same name for PostgreSQL creates the same
-- tables, columns and nullability.

-- A price check, shared by all watches of a tenant with the same query: its id is derived from
-- the query. It exists as long as an open watch uses it. `watch_revision` counts the requests
-- of watches, so that the row is not deleted while a watch is being added.
CREATE TABLE watch_ask (
    organization     TEXT NOT NULL,
    mode             TEXT NOT NULL CHECK (mode IN ('test', 'live')),
    id               TEXT NOT NULL,
    question         TEXT NOT NULL,
    next_at          INTEGER NOT NULL,
    lease_token      TEXT,
    lease_until      INTEGER,
    revision         INTEGER NOT NULL,
    last_checked_at  INTEGER,
    last_total_minor INTEGER,
    created_at       INTEGER NOT NULL,
    PRIMARY KEY (organization, mode, id)
) STRICT;
CREATE INDEX watch_ask_due ON watch_ask (next_at);

-- An open watch has the price last observed by its price check. A closed one keeps that price
-- in its own row.
CREATE TABLE watch (
    organization     TEXT NOT NULL,
    mode             TEXT NOT NULL CHECK (mode IN ('test', 'live')),
    id               TEXT NOT NULL,
    user_id          TEXT NOT NULL,
    ask_id           TEXT NOT NULL,
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
CREATE INDEX watch_list ON watch (organization, mode, user_id, created_at, id);
CREATE INDEX watch_list_status ON watch (organization, mode, user_id, status, created_at, id);
-- Finds the watches affected by a price, and whether an open watch uses a price check.
CREATE INDEX watch_of_ask ON watch (organization, mode, ask_id, status, trigger_minor);
