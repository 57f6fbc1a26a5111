-- Attempts of remote calls that may change data at a supplier or payment processor. Each is
-- recorded before its first byte is sent. `attempt_number` counts the attempts of one step of
-- one booking, from 1.
CREATE TABLE remote_call_attempt (
    organization       TEXT COLLATE "C" NOT NULL,
    mode               TEXT COLLATE "C" NOT NULL CHECK (mode IN ('test', 'live')),
    id                 TEXT COLLATE "C" NOT NULL,
    booking_id         TEXT COLLATE "C" NOT NULL,
    step               TEXT COLLATE "C" NOT NULL,
    attempt_number     BIGINT NOT NULL,
    target             TEXT COLLATE "C" NOT NULL,
    client_reference   TEXT COLLATE "C" NOT NULL,
    plugin_digest      TEXT COLLATE "C" NOT NULL,
    request_digest     TEXT COLLATE "C" NOT NULL,
    outcome            TEXT COLLATE "C" NOT NULL CHECK (outcome IN ('sent', 'succeeded', 'refused', 'not_sent', 'unknown')),
    send_count         BIGINT NOT NULL,
    reconcile_count    BIGINT NOT NULL,
    last_sent_at       BIGINT NOT NULL,
    finished_at        BIGINT,
    supplier_reference TEXT COLLATE "C",
    evidence           TEXT COLLATE "C",
    PRIMARY KEY (organization, mode, id)
);
-- Serves the operators' list of unresolved calls. A prebook of unknown outcome needs no operator.
CREATE INDEX remote_call_attempt_unresolved ON remote_call_attempt (last_sent_at)
    WHERE outcome IN ('sent', 'unknown') AND step <> 'prebook';
-- The other indexes start with their most selective column, as those of lists do.
CREATE UNIQUE INDEX remote_call_attempt_number ON remote_call_attempt (booking_id, organization, mode, step, attempt_number);
-- For each reference there is at most one call that happened or may have happened.
CREATE UNIQUE INDEX remote_call_attempt_effective ON remote_call_attempt (client_reference, organization, mode, target, step)
    WHERE outcome IN ('sent', 'unknown', 'succeeded');
