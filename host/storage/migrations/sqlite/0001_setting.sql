-- Values of the whole installation, such as the check value of the master key.
--
-- In all migrations, times are milliseconds since 1970 UTC, money is in minor units with a
-- currency column, and documents are JSON. Primary keys of tables that belong to an organization
-- start with it, so that the tables can be partitioned by organization.
-- Each file creates the same tables, columns, nullability and indexes as the file of the same
-- name for PostgreSQL.

CREATE TABLE setting (
    name  TEXT NOT NULL PRIMARY KEY,
    value BLOB NOT NULL
) STRICT;
