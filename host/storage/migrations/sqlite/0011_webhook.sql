-- Webhook subscriptions, their deliveries, and the attempts to deliver.

-- Secrets are encrypted, each bound to its row and column. A deleted subscription has no
-- secrets and is kept only until its deliveries are deleted.
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
-- Senders find a subscription by its id alone. The index need not be unique, because ids have
-- 128 bits; a table partitioned by organization could not enforce uniqueness.
CREATE INDEX webhook_subscription_id ON webhook_subscription (id);
-- Serves the list, oldest first, and the search for an event's subscriptions.
CREATE INDEX webhook_subscription_list ON webhook_subscription (organization, mode, product, created_at, id)
    WHERE deleted_at IS NULL;
CREATE INDEX webhook_subscription_deleted ON webhook_subscription (deleted_at)
    WHERE deleted_at IS NOT NULL;
-- A tenant has one endpoint for events of watches.
CREATE UNIQUE INDEX webhook_subscription_watch ON webhook_subscription (organization, mode)
    WHERE product = 'watch' AND deleted_at IS NULL;

-- A copy of each subscription's `event_types` that can be searched.
CREATE TABLE webhook_subscription_event_type (
    organization    TEXT NOT NULL,
    mode            TEXT NOT NULL CHECK (mode IN ('test', 'live')),
    subscription_id TEXT NOT NULL,
    event_type      TEXT NOT NULL,
    PRIMARY KEY (organization, mode, subscription_id, event_type)
) STRICT, WITHOUT ROWID;

-- The delivery of one event to one subscription. Its id is derived from their ids, so repeated
-- requests create only one delivery. `next_attempt_at` is set exactly as long as the delivery
-- must be sent.
CREATE TABLE webhook_delivery (
    organization     TEXT NOT NULL,
    mode             TEXT NOT NULL CHECK (mode IN ('test', 'live')),
    id               TEXT NOT NULL,
    subscription_id  TEXT NOT NULL,
    event_id         TEXT NOT NULL,
    status           TEXT NOT NULL CHECK (status IN ('PENDING', 'PUBLISHED', 'DELIVERED', 'FAILED')),
    generation       INTEGER NOT NULL,
    attempt_count    INTEGER NOT NULL,
    next_attempt_at  INTEGER,
    lease_token      TEXT,
    lease_expires_at INTEGER,
    created_at       INTEGER NOT NULL,
    pending_since    INTEGER NOT NULL,
    published_at     INTEGER,
    delivered_at     INTEGER,
    failed_at        INTEGER,
    failure_reason   TEXT,
    PRIMARY KEY (organization, mode, id)
) STRICT;
-- Due deliveries by subscription, so that a large backlog of one does not hide the others.
CREATE INDEX webhook_delivery_due ON webhook_delivery (subscription_id, next_attempt_at)
    WHERE next_attempt_at IS NOT NULL;
-- Serves the search for the oldest open deliveries.
CREATE INDEX webhook_delivery_open ON webhook_delivery (created_at)
    WHERE next_attempt_at IS NOT NULL;
-- Indexes of the lists, newest first.
CREATE INDEX webhook_delivery_list ON webhook_delivery (subscription_id, organization, mode, created_at, id);
CREATE INDEX webhook_delivery_list_status ON webhook_delivery (subscription_id, organization, mode, status, created_at, id);

-- Delivery attempts with the endpoints' responses. Rows are never updated.
CREATE TABLE webhook_delivery_attempt (
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
