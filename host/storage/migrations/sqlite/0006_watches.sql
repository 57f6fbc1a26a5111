-- Prices that are waited for, and what is asked for them. Twin of the file of the
-- same name for PostgreSQL: same tables, columns and nullability.

-- One question, however many watches ask it: its id is made of the question. It
-- lives as long as a watch that is open asks it. `revision` counts the watches that
-- came to it, so that it is not deleted while one comes.
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

-- What was last seen is the question's as long as the watch is open, and its own
-- from then on.
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
-- Background work knows a watch by nothing but its id. Ids are 128 bits, so this
-- need not be unique, which a table spread by organization could not check.
CREATE INDEX watch_id ON watch (id);
-- The lists, newest first.
CREATE INDEX watch_list ON watch (organization, mode, user_id, created_at, id);
CREATE INDEX watch_list_status ON watch (organization, mode, user_id, status, created_at, id);
-- Whom a price moves, and whether a question is wanted.
CREATE INDEX watch_of_ask ON watch (organization, mode, ask_id, status, trigger_minor);
