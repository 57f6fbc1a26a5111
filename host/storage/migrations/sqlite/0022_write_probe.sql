-- Rows that are written only to find out whether writes are committed. They hold no data.

CREATE TABLE write_probe (
    slot       INTEGER NOT NULL PRIMARY KEY,
    written_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
