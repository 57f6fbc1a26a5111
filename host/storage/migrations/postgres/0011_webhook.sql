-- Webhook subscriptions, their deliveries, and the attempts to deliver.

-- Secrets are encrypted, each bound to its row and column. A deleted subscription has no
-- secrets and is kept only until its deliveries are deleted.
CREATE TABLE webhook_subscription (
    organization               TEXT COLLATE "C" NOT NULL,
    mode                       TEXT COLLATE "C" NOT NULL CHECK (mode IN ('test', 'live')),
    id                         TEXT COLLATE "C" NOT NULL,
    product                    TEXT COLLATE "C" NOT NULL CHECK (product IN ('hotel', 'flight', 'watch')),
    url                        TEXT COLLATE "C" NOT NULL,
    event_types                TEXT COLLATE "C" NOT NULL,
    description                TEXT COLLATE "C",
    status                     TEXT COLLATE "C" NOT NULL CHECK (status IN ('ACTIVE', 'PAUSED', 'DISABLED')),
    failing_since              BIGINT,
    sealed_secret              BYTEA NOT NULL,
    sealed_previous_secret     BYTEA,
    previous_secret_expires_at BIGINT,
    created_at                 BIGINT NOT NULL,
    updated_at                 BIGINT NOT NULL,
    version                    BIGINT NOT NULL,
    deleted_at                 BIGINT,
    PRIMARY KEY (organization, mode, id)
);
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
    organization    TEXT COLLATE "C" NOT NULL,
    mode            TEXT COLLATE "C" NOT NULL CHECK (mode IN ('test', 'live')),
    subscription_id TEXT COLLATE "C" NOT NULL,
    event_type      TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (organization, mode, subscription_id, event_type)
);

-- The delivery of one event to one subscription. Its id is derived from their ids, so repeated
-- requests create only one delivery. `next_attempt_at` is set exactly as long as the delivery
-- must be sent.
CREATE TABLE webhook_delivery (
    organization     TEXT COLLATE "C" NOT NULL,
    mode             TEXT COLLATE "C" NOT NULL CHECK (mode IN ('test', 'live')),
    id               TEXT COLLATE "C" NOT NULL,
    subscription_id  TEXT COLLATE "C" NOT NULL,
    event_id         TEXT COLLATE "C" NOT NULL,
    status           TEXT COLLATE "C" NOT NULL CHECK (status IN ('PENDING', 'PUBLISHED', 'DELIVERED', 'FAILED')),
    generation       BIGINT NOT NULL,
    attempt_count    BIGINT NOT NULL,
    next_attempt_at  BIGINT,
    lease_token      TEXT COLLATE "C",
    lease_expires_at BIGINT,
    created_at       BIGINT NOT NULL,
    pending_since    BIGINT NOT NULL,
    published_at     BIGINT,
    delivered_at     BIGINT,
    failed_at        BIGINT,
    failure_reason   TEXT COLLATE "C",
    PRIMARY KEY (organization, mode, id)
);
-- Rows leave the partial indexes of open deliveries soon after they are inserted, so vacuum
-- runs often.
ALTER TABLE webhook_delivery SET (autovacuum_vacuum_scale_factor = 0.02);
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
    organization    TEXT COLLATE "C" NOT NULL,
    mode            TEXT COLLATE "C" NOT NULL CHECK (mode IN ('test', 'live')),
    delivery_id     TEXT COLLATE "C" NOT NULL,
    generation      BIGINT NOT NULL,
    attempt_number  BIGINT NOT NULL,
    response_status BIGINT,
    response_body   TEXT COLLATE "C",
    error           TEXT COLLATE "C",
    duration_ms     BIGINT NOT NULL,
    created_at      BIGINT NOT NULL,
    PRIMARY KEY (organization, mode, delivery_id, generation, attempt_number)
);
