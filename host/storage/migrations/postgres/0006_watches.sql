-- Prices that are waited for, and what is asked for them. Twin of the file of the
-- same name for SQLite: same tables, columns and nullability.

-- One question, however many watches ask it: its id is made of the question. It
-- lives as long as a watch that is open asks it. `revision` counts the watches that
-- came to it, so that it is not deleted while one comes.
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
-- Each check writes the row anew, and moves it in its index.
ALTER TABLE watch_ask SET (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX watch_ask_due ON watch_ask (next_at);

-- What was last seen is the question's as long as the watch is open, and its own
-- from then on.
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
-- Background work knows a watch by nothing but its id. Ids are 128 bits, so this
-- need not be unique, which a table spread by organization could not check.
CREATE INDEX watch_id ON watch (id);
-- The lists, newest first.
CREATE INDEX watch_list ON watch (organization, mode, user_id, created_at, id);
CREATE INDEX watch_list_status ON watch (organization, mode, user_id, status, created_at, id);
-- Whom a price moves, and whether a question is wanted.
CREATE INDEX watch_of_ask ON watch (organization, mode, ask_id, status, trigger_minor);
