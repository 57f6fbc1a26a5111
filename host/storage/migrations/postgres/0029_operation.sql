-- Operators' decisions about calls with an unknown outcome and about undecided refunds.
CREATE TABLE settlement_decision (
    organization TEXT COLLATE "C" NOT NULL,
    mode         TEXT COLLATE "C" NOT NULL CHECK (mode IN ('test', 'live')),
    id           TEXT COLLATE "C" NOT NULL,
    booking_id   TEXT COLLATE "C" NOT NULL,
    attempt_id   TEXT COLLATE "C" NOT NULL,
    choice       TEXT COLLATE "C" NOT NULL CHECK (choice IN ('done', 'not_done', 'refund')),
    -- The amount of a refund.
    amount_minor BIGINT,
    currency     TEXT COLLATE "C",
    -- The supplier's or processor's id, if the operator gave one.
    reference    TEXT COLLATE "C",
    note         TEXT COLLATE "C" NOT NULL,
    -- The name of the person or command.
    decided_by   TEXT COLLATE "C" NOT NULL,
    decided_at   BIGINT NOT NULL,
    state        TEXT COLLATE "C" NOT NULL CHECK (state IN ('waiting', 'applied', 'superseded', 'withdrawn')),
    -- Why the decision was superseded, or who withdrew it.
    result       TEXT COLLATE "C",
    -- State of the booking that the operator saw. Empty if the decision is about any state.
    seen_state   TEXT COLLATE "C",
    PRIMARY KEY (organization, mode, id)
);
-- Of two operators who decide about a call at the same time, one wins.
CREATE UNIQUE INDEX settlement_decision_waiting ON settlement_decision (attempt_id, organization, mode)
    WHERE state = 'waiting';
CREATE INDEX settlement_decision_attempt ON settlement_decision (attempt_id, organization, mode, decided_at);
-- Serves the list of recent decisions.
CREATE INDEX settlement_decision_recent ON settlement_decision (mode, decided_at, id);

-- Replays of all deliveries that match a filter. A job replays them, oldest first.
CREATE TABLE bulk_replay (
    id            TEXT COLLATE "C" NOT NULL,
    account_id    TEXT COLLATE "C" NOT NULL,
    mode          TEXT COLLATE "C" NOT NULL CHECK (mode IN ('test', 'live')),
    -- The organizations and the filter as JSON.
    selection     TEXT COLLATE "C" NOT NULL,
    total         BIGINT NOT NULL,
    replayed      BIGINT NOT NULL,
    -- Deliveries that could not be replayed, e.g. to a paused webhook.
    skipped       BIGINT NOT NULL,
    -- The last delivery that the job has seen.
    after_at      BIGINT,
    after_id      TEXT COLLATE "C",
    state         TEXT COLLATE "C" NOT NULL CHECK (state IN ('running', 'finished', 'stopped')),
    created_at    BIGINT NOT NULL,
    updated_at    BIGINT NOT NULL,
    PRIMARY KEY (id)
);
CREATE INDEX bulk_replay_account ON bulk_replay (account_id, mode, created_at, id);
-- An account runs one at a time.
CREATE UNIQUE INDEX bulk_replay_running ON bulk_replay (account_id, mode) WHERE state = 'running';

-- Changes of suppliers by operators, which override the configuration on all hosts.
CREATE TABLE supplier_override (
    supplier   TEXT COLLATE "C" NOT NULL,
    is_drained BIGINT NOT NULL,
    -- Empty for those of the configuration.
    priority   BIGINT,
    weight     BIGINT,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (supplier)
);

-- Programs that receive events by long polls instead of at a public address. Polls renew their row.
CREATE TABLE listen_session (
    organization TEXT COLLATE "C" NOT NULL,
    mode         TEXT COLLATE "C" NOT NULL CHECK (mode IN ('test', 'live')),
    id           TEXT COLLATE "C" NOT NULL,
    -- JSON array of names of event types; empty for all.
    event_types  TEXT COLLATE "C" NOT NULL,
    created_at   BIGINT NOT NULL,
    expires_at   BIGINT NOT NULL,
    PRIMARY KEY (organization, mode, id)
);
CREATE INDEX listen_session_expiry ON listen_session (expires_at);
