-- Changes that wait for their place in the chain. They are stored in the transaction of the change.
CREATE TABLE audit_pending (
    -- Begins with the time.
    id   TEXT NOT NULL,
    at   INTEGER NOT NULL,
    -- The entry without its place in the chain: JSON.
    body TEXT NOT NULL,
    PRIMARY KEY (id)
) STRICT, WITHOUT ROWID;

-- The chain. The columns besides `body` and `hash` repeat parts of the body for lists.
CREATE TABLE audit_log (
    -- 1, 2, 3, … without gaps.
    sequence     INTEGER NOT NULL,
    at           INTEGER NOT NULL,
    -- Empty for changes of the whole installation.
    organization TEXT NOT NULL,
    -- Empty for changes of both modes.
    mode         TEXT NOT NULL,
    actor_kind   TEXT NOT NULL,
    actor_id     TEXT NOT NULL,
    actor_name   TEXT NOT NULL,
    action       TEXT NOT NULL,
    target_id    TEXT NOT NULL,
    -- The entry without its hash, with the hash of the previous entry: canonical JSON.
    body         TEXT NOT NULL,
    -- SHA-256 digest of the body in hexadecimal.
    hash         TEXT NOT NULL,
    PRIMARY KEY (sequence)
) STRICT, WITHOUT ROWID;
CREATE INDEX audit_log_at ON audit_log (at, sequence);
CREATE INDEX audit_log_organization ON audit_log (organization, at, sequence);
CREATE INDEX audit_log_actor_kind ON audit_log (actor_kind, at, sequence);
CREATE INDEX audit_log_actor_id ON audit_log (actor_id, at, sequence);
CREATE INDEX audit_log_actor_name ON audit_log (actor_name, at, sequence);
CREATE INDEX audit_log_action ON audit_log (action, at, sequence);
CREATE INDEX audit_log_target ON audit_log (target_id, at, sequence);

CREATE TRIGGER audit_log_update BEFORE UPDATE ON audit_log BEGIN
    SELECT RAISE(ABORT, 'entries of the audit log cannot be changed');
END;
CREATE TRIGGER audit_log_delete BEFORE DELETE ON audit_log BEGIN
    SELECT RAISE(ABORT, 'entries of the audit log cannot be deleted');
END;
