-- Operators' decisions about calls with an unknown outcome and about undecided refunds.
CREATE TABLE settlement_decision (
    organization TEXT NOT NULL,
    mode         TEXT NOT NULL CHECK (mode IN ('test', 'live')),
    id           TEXT NOT NULL,
    booking_id   TEXT NOT NULL,
    attempt_id   TEXT NOT NULL,
    choice       TEXT NOT NULL CHECK (choice IN ('done', 'not_done', 'refund')),
    -- The amount of a refund.
    amount_minor INTEGER,
    currency     TEXT,
    -- The supplier's or processor's id, if the operator gave one.
    reference    TEXT,
    note         TEXT NOT NULL,
    -- The name of the person or command.
    decided_by   TEXT NOT NULL,
    decided_at   INTEGER NOT NULL,
    state        TEXT NOT NULL CHECK (state IN ('waiting', 'applied', 'superseded', 'withdrawn')),
    -- Why the decision was superseded, or who withdrew it.
    result       TEXT,
    -- State of the booking that the operator saw. Empty if the decision is about any state.
    seen_state   TEXT,
    PRIMARY KEY (organization, mode, id)
) STRICT;
-- Of two operators who decide about a call at the same time, one wins.
CREATE UNIQUE INDEX settlement_decision_waiting ON settlement_decision (attempt_id, organization, mode)
    WHERE state = 'waiting';
CREATE INDEX settlement_decision_attempt ON settlement_decision (attempt_id, organization, mode, decided_at);
-- Serves the list of recent decisions.
CREATE INDEX settlement_decision_recent ON settlement_decision (mode, decided_at, id);

-- Replays of all deliveries that match a filter. A job replays them, oldest first.
CREATE TABLE bulk_replay (
    id            TEXT NOT NULL,
    account_id    TEXT NOT NULL,
    mode          TEXT NOT NULL CHECK (mode IN ('test', 'live')),
    -- The organizations and the filter as JSON.
    selection     TEXT NOT NULL,
    total         INTEGER NOT NULL,
    replayed      INTEGER NOT NULL,
    -- Deliveries that could not be replayed, e.g. to a paused webhook.
    skipped       INTEGER NOT NULL,
    -- The last delivery that the job has seen.
    after_at      INTEGER,
    after_id      TEXT,
    state         TEXT NOT NULL CHECK (state IN ('running', 'finished', 'stopped')),
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL,
    PRIMARY KEY (id)
) STRICT, WITHOUT ROWID;
CREATE INDEX bulk_replay_account ON bulk_replay (account_id, mode, created_at, id);
-- An account runs one at a time.
CREATE UNIQUE INDEX bulk_replay_running ON bulk_replay (account_id, mode) WHERE state = 'running';

-- Changes of suppliers by operators, which override the configuration on all hosts.
CREATE TABLE supplier_override (
    supplier   TEXT NOT NULL,
    is_drained INTEGER NOT NULL,
    -- Empty for those of the configuration.
    priority   INTEGER,
    weight     INTEGER,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (supplier)
) STRICT;

-- Programs that receive events by long polls instead of at a public address. Polls renew their row.
CREATE TABLE listen_session (
    organization TEXT NOT NULL,
    mode         TEXT NOT NULL CHECK (mode IN ('test', 'live')),
    id           TEXT NOT NULL,
    -- JSON array of names of event types; empty for all.
    event_types  TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER NOT NULL,
    PRIMARY KEY (organization, mode, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX listen_session_expiry ON listen_session (expires_at);
