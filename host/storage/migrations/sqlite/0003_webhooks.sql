-- Subscriptions to events, and what is delivered to them. Twin of the file of the
-- same name for PostgreSQL: same tables, columns and nullability.

-- The outbox as before, also for what watches tell: SQLite changes a check by
-- making the table anew.
CREATE TABLE outbox_with_watches (
    organization TEXT NOT NULL,
    mode         TEXT NOT NULL CHECK (mode IN ('test', 'live')),
    id           TEXT NOT NULL,
    event_type   TEXT NOT NULL,
    product      TEXT NOT NULL CHECK (product IN ('hotel', 'flight', 'watch')),
    booking_id   TEXT,
    payload      TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    PRIMARY KEY (organization, mode, id)
) STRICT;
INSERT INTO outbox_with_watches (organization, mode, id, event_type, product, booking_id, payload, created_at)
    SELECT organization, mode, id, event_type, product, booking_id, payload, created_at FROM outbox;
DROP TABLE outbox;
ALTER TABLE outbox_with_watches RENAME TO outbox;
CREATE INDEX outbox_booking ON outbox (organization, mode, booking_id, created_at, id);

-- Secrets are sealed, each for its row and column. A deleted subscription has none,
-- and stays only until its deliveries are gone.
CREATE TABLE webhook_subscription (
    organization               TEXT NOT NULL,
    mode                       TEXT NOT NULL CHECK (mode IN ('test', 'live')),
    id                         TEXT NOT NULL,
    product                    TEXT NOT NULL CHECK (product IN ('hotel', 'flight', 'watch')),
    url                        TEXT NOT NULL,
    event_types                TEXT NOT NULL,
    description                TEXT,
    status                     TEXT NOT NULL CHECK (status IN ('ACTIVE', 'PAUSED', 'DISABLED')),
    failing_since              INTEGER,
    sealed_secret              BLOB NOT NULL,
    sealed_previous_secret     BLOB,
    previous_secret_expires_at INTEGER,
    created_at                 INTEGER NOT NULL,
    updated_at                 INTEGER NOT NULL,
    version                    INTEGER NOT NULL,
    deleted_at                 INTEGER,
    PRIMARY KEY (organization, mode, id)
) STRICT;
-- The sender knows a subscription by nothing but its id. Ids are 128 bits, so this
-- need not be unique, which a table spread by organization could not check.
CREATE INDEX webhook_subscription_id ON webhook_subscription (id);
-- The list, oldest first, and whom an event goes to.
CREATE INDEX webhook_subscription_list ON webhook_subscription (organization, mode, product, created_at, id)
    WHERE deleted_at IS NULL;
CREATE INDEX webhook_subscription_deleted ON webhook_subscription (deleted_at)
    WHERE deleted_at IS NOT NULL;

-- `event_types` of a subscription once more, to be searched.
CREATE TABLE webhook_subscription_type (
    organization    TEXT NOT NULL,
    mode            TEXT NOT NULL CHECK (mode IN ('test', 'live')),
    subscription_id TEXT NOT NULL,
    event_type      TEXT NOT NULL,
    PRIMARY KEY (organization, mode, subscription_id, event_type)
) STRICT, WITHOUT ROWID;

-- One event on its way to one subscription. Its id is made of theirs, so that there
-- is one however often it is asked for. `next_at` is there exactly as long as
-- something is to be sent.
CREATE TABLE webhook_delivery (
    organization    TEXT NOT NULL,
    mode            TEXT NOT NULL CHECK (mode IN ('test', 'live')),
    id              TEXT NOT NULL,
    subscription_id TEXT NOT NULL,
    event_id        TEXT NOT NULL,
    status          TEXT NOT NULL CHECK (status IN ('PENDING', 'PUBLISHED', 'DELIVERED', 'FAILED')),
    generation      INTEGER NOT NULL,
    attempts        INTEGER NOT NULL,
    next_at         INTEGER,
    lease_token     TEXT,
    lease_until     INTEGER,
    created_at      INTEGER NOT NULL,
    pending_since   INTEGER NOT NULL,
    published_at    INTEGER,
    delivered_at    INTEGER,
    failed_at       INTEGER,
    failure_reason  TEXT,
    PRIMARY KEY (organization, mode, id)
) STRICT;
-- What is due, by subscription: one with much to be sent hides no other.
CREATE INDEX webhook_delivery_due ON webhook_delivery (subscription_id, next_at)
    WHERE next_at IS NOT NULL;
-- What waits longest.
CREATE INDEX webhook_delivery_open ON webhook_delivery (created_at)
    WHERE next_at IS NOT NULL;
-- The lists, newest first.
CREATE INDEX webhook_delivery_list ON webhook_delivery (organization, mode, subscription_id, created_at, id);
CREATE INDEX webhook_delivery_list_status ON webhook_delivery (organization, mode, subscription_id, status, created_at, id);

-- What receivers answered. Only ever added to.
CREATE TABLE webhook_attempt (
    organization    TEXT NOT NULL,
    mode            TEXT NOT NULL CHECK (mode IN ('test', 'live')),
    delivery_id     TEXT NOT NULL,
    generation      INTEGER NOT NULL,
    attempt_number  INTEGER NOT NULL,
    response_status INTEGER,
    response_body   TEXT,
    error           TEXT,
    duration_ms     INTEGER NOT NULL,
    created_at      INTEGER NOT NULL,
    PRIMARY KEY (organization, mode, delivery_id, generation, attempt_number)
) STRICT;
