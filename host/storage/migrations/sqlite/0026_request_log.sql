-- API calls. `id` begins with the time of the response. Calls with an unknown key or path have an empty
-- organization.
CREATE TABLE request_log (
    organization TEXT NOT NULL,
    mode         TEXT NOT NULL CHECK (mode IN ('test', 'live')),
    id           TEXT NOT NULL,
    request_id   TEXT NOT NULL,
    at           INTEGER NOT NULL,
    method       TEXT NOT NULL,
    route        TEXT NOT NULL,
    -- Path and query, redacted.
    path         TEXT NOT NULL,
    status       INTEGER NOT NULL,
    -- 4 or 5, the first digit of the status of a failure.
    failure      INTEGER,
    duration_us  INTEGER NOT NULL,
    key_id       TEXT,
    user_id      TEXT NOT NULL,
    -- Of changes and failures only.
    booking_id   TEXT,
    code         TEXT,
    host         TEXT NOT NULL,
    PRIMARY KEY (organization, mode, id)
) STRICT;
-- The list of operators, and the deletion of old rows.
CREATE INDEX request_log_mode ON request_log (mode, id);
CREATE INDEX request_log_request ON request_log (request_id, id);
CREATE INDEX request_log_booking ON request_log (booking_id, organization, mode, id)
    WHERE booking_id IS NOT NULL;
-- Failures are rare, so a list of them would read many other rows.
CREATE INDEX request_log_failed ON request_log (failure, organization, mode, id) WHERE failure IS NOT NULL;
CREATE INDEX request_log_failed_mode ON request_log (failure, mode, id) WHERE failure IS NOT NULL;

-- Bodies of changes and failures, redacted. A text is absent if the body was empty, no JSON or too long.
CREATE TABLE request_log_body (
    organization   TEXT NOT NULL,
    mode           TEXT NOT NULL CHECK (mode IN ('test', 'live')),
    id             TEXT NOT NULL,
    request_bytes  INTEGER NOT NULL,
    request_body   TEXT,
    response_bytes INTEGER NOT NULL,
    response_body  TEXT,
    PRIMARY KEY (organization, mode, id)
) STRICT, WITHOUT ROWID;

-- Calls of plugins and their HTTP requests. `request_id` names the API call or the background work.
CREATE TABLE call_log (
    organization   TEXT NOT NULL,
    mode           TEXT NOT NULL CHECK (mode IN ('test', 'live')),
    request_id     TEXT NOT NULL,
    id             TEXT NOT NULL,
    kind           TEXT NOT NULL CHECK (kind IN ('plugin', 'http')),
    supplier       TEXT NOT NULL,
    capability     TEXT NOT NULL,
    -- Function of a plugin, empty for an HTTP request.
    function       TEXT NOT NULL,
    -- Method, origin and path of an HTTP request, empty for a plugin.
    target         TEXT NOT NULL,
    started_at     INTEGER NOT NULL,
    duration_us    INTEGER NOT NULL,
    outcome        TEXT NOT NULL,
    -- 1 if the supplier or the plugin is the reason of the failure.
    is_failure     INTEGER NOT NULL CHECK (is_failure IN (0, 1)),
    detail         TEXT,
    status         INTEGER,
    request_bytes  INTEGER NOT NULL,
    response_bytes INTEGER NOT NULL,
    PRIMARY KEY (organization, mode, request_id, id)
) STRICT;
-- The deletion of old rows.
CREATE INDEX call_log_mode ON call_log (mode, id);
CREATE INDEX call_log_failed ON call_log (supplier, mode, id) WHERE is_failure = 1;
