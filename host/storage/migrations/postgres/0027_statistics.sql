-- Numbers of calls by minute and by hour. The rows of an hour are written together with those of its
-- minutes. The organization '*' has the sums of all organizations.
CREATE TABLE statistics (
    organization    TEXT COLLATE "C" NOT NULL,
    mode            TEXT COLLATE "C" NOT NULL CHECK (mode IN ('test', 'live')),
    resolution      TEXT COLLATE "C" NOT NULL CHECK (resolution IN ('minute', 'hour')),
    subject         TEXT COLLATE "C" NOT NULL CHECK (subject IN ('total', 'route', 'supplier')),
    -- Beginning of the minute or hour.
    at              BIGINT NOT NULL,
    -- Method and route, or the supplier.
    name            TEXT COLLATE "C" NOT NULL,
    -- Function of a supplier's plugin, otherwise empty.
    operation       TEXT COLLATE "C" NOT NULL,
    -- Name of the machine that counted.
    host            TEXT COLLATE "C" NOT NULL,
    count           BIGINT NOT NULL,
    client_errors   BIGINT NOT NULL,
    server_errors   BIGINT NOT NULL,
    duration_us_sum BIGINT NOT NULL,
    duration_us_max BIGINT NOT NULL,
    -- Numbers of calls by class of duration.
    class_00        BIGINT NOT NULL,
    class_01        BIGINT NOT NULL,
    class_02        BIGINT NOT NULL,
    class_03        BIGINT NOT NULL,
    class_04        BIGINT NOT NULL,
    class_05        BIGINT NOT NULL,
    class_06        BIGINT NOT NULL,
    class_07        BIGINT NOT NULL,
    class_08        BIGINT NOT NULL,
    class_09        BIGINT NOT NULL,
    class_10        BIGINT NOT NULL,
    class_11        BIGINT NOT NULL,
    class_12        BIGINT NOT NULL,
    class_13        BIGINT NOT NULL,
    PRIMARY KEY (organization, mode, resolution, subject, at, name, operation, host)
);
-- The deletion of old rows.
CREATE INDEX statistics_minute_age ON statistics (at) WHERE resolution = 'minute';
CREATE INDEX statistics_hour_age ON statistics (at) WHERE resolution = 'hour';

-- Amounts of bookings that suppliers confirmed, by hour and currency. The organization '*' has the sums of
-- all organizations.
CREATE TABLE booked_amount (
    organization TEXT COLLATE "C" NOT NULL,
    mode         TEXT COLLATE "C" NOT NULL CHECK (mode IN ('test', 'live')),
    at           BIGINT NOT NULL,
    currency     TEXT COLLATE "C" NOT NULL,
    bookings     BIGINT NOT NULL,
    amount_minor BIGINT NOT NULL,
    PRIMARY KEY (organization, mode, at, currency)
);
CREATE INDEX booked_amount_age ON booked_amount (at);

-- The slowest calls of a supplier's function in a minute, and some that failed.
CREATE TABLE remarkable_call (
    organization TEXT COLLATE "C" NOT NULL,
    mode         TEXT COLLATE "C" NOT NULL CHECK (mode IN ('test', 'live')),
    at           BIGINT NOT NULL,
    supplier     TEXT COLLATE "C" NOT NULL,
    operation    TEXT COLLATE "C" NOT NULL,
    reason       TEXT COLLATE "C" NOT NULL CHECK (reason IN ('slow', 'failed')),
    request_id   TEXT COLLATE "C" NOT NULL,
    duration_us  BIGINT NOT NULL,
    outcome      TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (organization, mode, at, supplier, operation, reason, request_id)
);
CREATE INDEX remarkable_call_mode ON remarkable_call (mode, at);
CREATE INDEX remarkable_call_age ON remarkable_call (at);
