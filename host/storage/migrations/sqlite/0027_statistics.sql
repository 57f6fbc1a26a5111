-- Numbers of calls by minute and by hour. The rows of an hour are written together with those of its
-- minutes. The organization '*' has the sums of all organizations.
CREATE TABLE statistics (
    organization    TEXT NOT NULL,
    mode            TEXT NOT NULL CHECK (mode IN ('test', 'live')),
    resolution      TEXT NOT NULL CHECK (resolution IN ('minute', 'hour')),
    subject         TEXT NOT NULL CHECK (subject IN ('total', 'route', 'supplier')),
    -- Beginning of the minute or hour.
    at              INTEGER NOT NULL,
    -- Method and route, or the supplier.
    name            TEXT NOT NULL,
    -- Function of a supplier's plugin, otherwise empty.
    operation       TEXT NOT NULL,
    -- Name of the machine that counted.
    host            TEXT NOT NULL,
    count           INTEGER NOT NULL,
    client_errors   INTEGER NOT NULL,
    server_errors   INTEGER NOT NULL,
    duration_us_sum INTEGER NOT NULL,
    duration_us_max INTEGER NOT NULL,
    -- Numbers of calls by class of duration.
    class_00        INTEGER NOT NULL,
    class_01        INTEGER NOT NULL,
    class_02        INTEGER NOT NULL,
    class_03        INTEGER NOT NULL,
    class_04        INTEGER NOT NULL,
    class_05        INTEGER NOT NULL,
    class_06        INTEGER NOT NULL,
    class_07        INTEGER NOT NULL,
    class_08        INTEGER NOT NULL,
    class_09        INTEGER NOT NULL,
    class_10        INTEGER NOT NULL,
    class_11        INTEGER NOT NULL,
    class_12        INTEGER NOT NULL,
    class_13        INTEGER NOT NULL,
    PRIMARY KEY (organization, mode, resolution, subject, at, name, operation, host)
) STRICT, WITHOUT ROWID;
-- The deletion of old rows.
CREATE INDEX statistics_minute_age ON statistics (at) WHERE resolution = 'minute';
CREATE INDEX statistics_hour_age ON statistics (at) WHERE resolution = 'hour';

-- Amounts of bookings that suppliers confirmed, by hour and currency. The organization '*' has the sums of
-- all organizations.
CREATE TABLE booked_amount (
    organization TEXT NOT NULL,
    mode         TEXT NOT NULL CHECK (mode IN ('test', 'live')),
    at           INTEGER NOT NULL,
    currency     TEXT NOT NULL,
    bookings     INTEGER NOT NULL,
    amount_minor INTEGER NOT NULL,
    PRIMARY KEY (organization, mode, at, currency)
) STRICT, WITHOUT ROWID;
CREATE INDEX booked_amount_age ON booked_amount (at);

-- The slowest calls of a supplier's function in a minute, and some that failed.
CREATE TABLE remarkable_call (
    organization TEXT NOT NULL,
    mode         TEXT NOT NULL CHECK (mode IN ('test', 'live')),
    at           INTEGER NOT NULL,
    supplier     TEXT NOT NULL,
    operation    TEXT NOT NULL,
    reason       TEXT NOT NULL CHECK (reason IN ('slow', 'failed')),
    request_id   TEXT NOT NULL,
    duration_us  INTEGER NOT NULL,
    outcome      TEXT NOT NULL,
    PRIMARY KEY (organization, mode, at, supplier, operation, reason, request_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX remarkable_call_mode ON remarkable_call (mode, at);
CREATE INDEX remarkable_call_age ON remarkable_call (at);
