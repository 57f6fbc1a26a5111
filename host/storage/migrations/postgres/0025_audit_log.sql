-- Changes that wait for their place in the chain. They are stored in the transaction of the change.
CREATE TABLE audit_pending (
    -- Begins with the time.
    id   TEXT COLLATE "C" NOT NULL,
    at   BIGINT NOT NULL,
    -- The entry without its place in the chain: JSON.
    body TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (id)
);

-- The chain. The columns besides `body` and `hash` repeat parts of the body for lists.
CREATE TABLE audit_log (
    -- 1, 2, 3, … without gaps.
    sequence     BIGINT NOT NULL,
    at           BIGINT NOT NULL,
    -- Empty for changes of the whole installation.
    organization TEXT COLLATE "C" NOT NULL,
    -- Empty for changes of both modes.
    mode         TEXT COLLATE "C" NOT NULL,
    actor_kind   TEXT COLLATE "C" NOT NULL,
    actor_id     TEXT COLLATE "C" NOT NULL,
    actor_name   TEXT COLLATE "C" NOT NULL,
    action       TEXT COLLATE "C" NOT NULL,
    target_id    TEXT COLLATE "C" NOT NULL,
    -- The entry without its hash, with the hash of the previous entry: canonical JSON.
    body         TEXT COLLATE "C" NOT NULL,
    -- SHA-256 digest of the body in hexadecimal.
    hash         TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (sequence)
);
CREATE INDEX audit_log_at ON audit_log (at, sequence);
CREATE INDEX audit_log_organization ON audit_log (organization, at, sequence);
CREATE INDEX audit_log_actor_kind ON audit_log (actor_kind, at, sequence);
CREATE INDEX audit_log_actor_id ON audit_log (actor_id, at, sequence);
CREATE INDEX audit_log_actor_name ON audit_log (actor_name, at, sequence);
CREATE INDEX audit_log_action ON audit_log (action, at, sequence);
CREATE INDEX audit_log_target ON audit_log (target_id, at, sequence);

CREATE FUNCTION refuse_audit_log_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'entries of the audit log cannot be changed or deleted';
END
$$;
CREATE TRIGGER audit_log_change BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_log
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_log_change();
