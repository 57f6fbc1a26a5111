-- API calls. `id` begins with the time of the response. Calls with an unknown key or path have an empty
-- organization.
CREATE TABLE request_log (
    organization TEXT COLLATE "C" NOT NULL,
    mode         TEXT COLLATE "C" NOT NULL CHECK (mode IN ('test', 'live')),
    id           TEXT COLLATE "C" NOT NULL,
    request_id   TEXT COLLATE "C" NOT NULL,
    at           BIGINT NOT NULL,
    method       TEXT COLLATE "C" NOT NULL,
    route        TEXT COLLATE "C" NOT NULL,
    -- Path and query, redacted.
    path         TEXT COLLATE "C" NOT NULL,
    status       BIGINT NOT NULL,
    -- 4 or 5, the first digit of the status of a failure.
    failure      BIGINT,
    duration_us  BIGINT NOT NULL,
    key_id       TEXT COLLATE "C",
    user_id      TEXT COLLATE "C" NOT NULL,
    -- Of changes and failures only.
    booking_id   TEXT COLLATE "C",
    code         TEXT COLLATE "C",
    host         TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (organization, mode, id)
);
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
    organization   TEXT COLLATE "C" NOT NULL,
    mode           TEXT COLLATE "C" NOT NULL CHECK (mode IN ('test', 'live')),
    id             TEXT COLLATE "C" NOT NULL,
    request_bytes  BIGINT NOT NULL,
    request_body   TEXT COLLATE "C",
    response_bytes BIGINT NOT NULL,
    response_body  TEXT COLLATE "C",
    PRIMARY KEY (organization, mode, id)
);

-- Calls of plugins and their HTTP requests. `request_id` names the API call or the background work.
CREATE TABLE call_log (
    organization   TEXT COLLATE "C" NOT NULL,
    mode           TEXT COLLATE "C" NOT NULL CHECK (mode IN ('test', 'live')),
    request_id     TEXT COLLATE "C" NOT NULL,
    id             TEXT COLLATE "C" NOT NULL,
    kind           TEXT COLLATE "C" NOT NULL CHECK (kind IN ('plugin', 'http')),
    supplier       TEXT COLLATE "C" NOT NULL,
    capability     TEXT COLLATE "C" NOT NULL,
    -- Function of a plugin, empty for an HTTP request.
    function       TEXT COLLATE "C" NOT NULL,
    -- Method, origin and path of an HTTP request, empty for a plugin.
    target         TEXT COLLATE "C" NOT NULL,
    started_at     BIGINT NOT NULL,
    duration_us    BIGINT NOT NULL,
    outcome        TEXT COLLATE "C" NOT NULL,
    -- 1 if the supplier or the plugin is the reason of the failure.
    is_failure     BIGINT NOT NULL CHECK (is_failure IN (0, 1)),
    detail         TEXT COLLATE "C",
    status         BIGINT,
    request_bytes  BIGINT NOT NULL,
    response_bytes BIGINT NOT NULL,
    PRIMARY KEY (organization, mode, request_id, id)
);
-- The deletion of old rows.
CREATE INDEX call_log_mode ON call_log (mode, id);
CREATE INDEX call_log_failed ON call_log (supplier, mode, id) WHERE is_failure = 1;
