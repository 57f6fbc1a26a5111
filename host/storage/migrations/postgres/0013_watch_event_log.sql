-- The event log of watches.

-- The sequence number of a tenant's last event in its log. A transaction that appends an event
-- locks this row until it commits, so that events become visible in the order of their
-- sequence numbers.
CREATE TABLE watch_event_log_head (
    organization  TEXT COLLATE "C" NOT NULL,
    mode          TEXT COLLATE "C" NOT NULL CHECK (mode IN ('test', 'live')),
    last_sequence BIGINT NOT NULL,
    PRIMARY KEY (organization, mode)
);

-- Events by sequence number, from 1 without gaps, with their delivery status. Deliveries are
-- deleted with their endpoint; the log remains.
CREATE TABLE watch_event_log (
    organization TEXT COLLATE "C" NOT NULL,
    mode         TEXT COLLATE "C" NOT NULL CHECK (mode IN ('test', 'live')),
    sequence     BIGINT NOT NULL,
    event_id     TEXT COLLATE "C" NOT NULL,
    status       TEXT COLLATE "C" NOT NULL CHECK (status IN ('pending', 'delivered', 'failed')),
    created_at   BIGINT NOT NULL,
    PRIMARY KEY (organization, mode, sequence)
);
-- Finds the event after which a reader continues.
CREATE UNIQUE INDEX watch_event_log_event ON watch_event_log (organization, mode, event_id);
-- Finds the events that a new endpoint must receive.
CREATE INDEX watch_event_log_pending ON watch_event_log (organization, mode, created_at)
    WHERE status = 'pending';
