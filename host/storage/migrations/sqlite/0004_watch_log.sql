-- The log of what watches told. Twin of the file of the same name for PostgreSQL:
-- same tables, columns and nullability.

-- The place of a tenant's last event in its log. Whoever logs an event holds this row
-- until it commits, so that events become visible in the order of their places.
CREATE TABLE watch_log_head (
    organization TEXT NOT NULL,
    mode         TEXT NOT NULL CHECK (mode IN ('test', 'live')),
    last         INTEGER NOT NULL,
    PRIMARY KEY (organization, mode)
) STRICT, WITHOUT ROWID;

-- Events by their place, from 1 without gaps, and what became of each: deliveries
-- go with the endpoint that they are for, the log stays.
CREATE TABLE watch_log (
    organization TEXT NOT NULL,
    mode         TEXT NOT NULL CHECK (mode IN ('test', 'live')),
    sequence     INTEGER NOT NULL,
    event_id     TEXT NOT NULL,
    status       TEXT NOT NULL CHECK (status IN ('pending', 'delivered', 'failed')),
    created_at   INTEGER NOT NULL,
    PRIMARY KEY (organization, mode, sequence)
) STRICT;
-- Where a reader left off.
CREATE UNIQUE INDEX watch_log_event ON watch_log (organization, mode, event_id);
-- What a new endpoint is to be sent.
CREATE INDEX watch_log_pending ON watch_log (organization, mode, created_at)
    WHERE status = 'pending';

-- Events of watches go to one endpoint.
CREATE UNIQUE INDEX webhook_subscription_watch ON webhook_subscription (organization, mode)
    WHERE product = 'watch' AND deleted_at IS NULL;
