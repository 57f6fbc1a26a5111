-- Attempts of remote calls that may change data at a supplier or payment processor. Each is
-- recorded before its first byte is sent. `attempt_number` counts the attempts of one step of
-- one booking, from 1.
CREATE TABLE remote_call_attempt (
    organization       TEXT NOT NULL,
    mode               TEXT NOT NULL CHECK (mode IN ('test', 'live')),
    id                 TEXT NOT NULL,
    booking_id         TEXT NOT NULL,
    step               TEXT NOT NULL,
    attempt_number     INTEGER NOT NULL,
    target             TEXT NOT NULL,
    client_reference   TEXT NOT NULL,
    plugin_digest      TEXT NOT NULL,
    request_digest     TEXT NOT NULL,
    outcome            TEXT NOT NULL CHECK (outcome IN ('sent', 'succeeded', 'refused', 'not_sent', 'unknown')),
    send_count         INTEGER NOT NULL,
    reconcile_count    INTEGER NOT NULL,
    last_sent_at       INTEGER NOT NULL,
    finished_at        INTEGER,
    supplier_reference TEXT,
    evidence           TEXT,
    PRIMARY KEY (organization, mode, id)
) STRICT;
-- Serves the operators' list of unresolved calls. A prebook of unknown outcome needs no operator.
CREATE INDEX remote_call_attempt_unresolved ON remote_call_attempt (last_sent_at)
    WHERE outcome IN ('sent', 'unknown') AND step <> 'prebook';
-- The other indexes start with their most selective column, as those of lists do.
CREATE UNIQUE INDEX remote_call_attempt_number ON remote_call_attempt (booking_id, organization, mode, step, attempt_number);
-- For each reference there is at most one call that happened or may have happened.
CREATE UNIQUE INDEX remote_call_attempt_effective ON remote_call_attempt (client_reference, organization, mode, target, step)
    WHERE outcome IN ('sent', 'unknown', 'succeeded');
