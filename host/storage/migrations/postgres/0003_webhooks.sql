-- Subscriptions to events, and what is delivered to them. Twin of the file of the
-- same name for SQLite: same tables, columns and nullability.

-- The outbox also takes what watches tell.
ALTER TABLE outbox DROP CONSTRAINT outbox_product_check;
ALTER TABLE outbox ADD CONSTRAINT outbox_product_check CHECK (product IN ('hotel', 'flight', 'watch'));

-- Secrets are sealed, each for its row and column. A deleted subscription has none,
-- and stays only until its deliveries are gone.
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
    organization    TEXT COLLATE "C" NOT NULL,
    mode            TEXT COLLATE "C" NOT NULL CHECK (mode IN ('test', 'live')),
    subscription_id TEXT COLLATE "C" NOT NULL,
    event_type      TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (organization, mode, subscription_id, event_type)
);

-- One event on its way to one subscription. Its id is made of theirs, so that there
-- is one however often it is asked for. `next_at` is there exactly as long as
-- something is to be sent.
CREATE TABLE webhook_delivery (
    organization    TEXT COLLATE "C" NOT NULL,
    mode            TEXT COLLATE "C" NOT NULL CHECK (mode IN ('test', 'live')),
    id              TEXT COLLATE "C" NOT NULL,
    subscription_id TEXT COLLATE "C" NOT NULL,
    event_id        TEXT COLLATE "C" NOT NULL,
    status          TEXT COLLATE "C" NOT NULL CHECK (status IN ('PENDING', 'PUBLISHED', 'DELIVERED', 'FAILED')),
    generation      BIGINT NOT NULL,
    attempts        BIGINT NOT NULL,
    next_at         BIGINT,
    lease_token     TEXT COLLATE "C",
    lease_until     BIGINT,
    created_at      BIGINT NOT NULL,
    pending_since   BIGINT NOT NULL,
    published_at    BIGINT,
    delivered_at    BIGINT,
    failed_at       BIGINT,
    failure_reason  TEXT COLLATE "C",
    PRIMARY KEY (organization, mode, id)
);
-- Rows leave the indexes of what is to be sent soon after they came.
ALTER TABLE webhook_delivery SET (autovacuum_vacuum_scale_factor = 0.02);
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
