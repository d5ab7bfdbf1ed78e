-- What a caller told of a trial that it had asked for is measured too. Only a check of the table changes, no row of it:
-- https://sqlite.org/lang_altertable.html#otheralter. The columns that are added behind it have SQLite read the schema
-- again.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema
SET sql = replace(sql, 'source = ''reused'' OR source = ''imported''',
                  'source = ''reused'' OR source = ''imported'' OR source = ''told''')
WHERE type = 'table' AND name = 'measurements';
PRAGMA writable_schema = OFF;

-- Whether a sweep's trials are handed out on request and their results told by a caller, so that no agent runs them; and
-- until when such an attempt is reserved for the caller who asked for it. NULL: agents' leases are not stored.
ALTER TABLE sweeps ADD COLUMN asked INTEGER NOT NULL DEFAULT 0 CHECK (asked IN (0, 1));
ALTER TABLE attempts ADD COLUMN lease_end_us INTEGER;
