-- A copy that follows a first server has the store's identity. Each takeover by such a copy is an epoch.

ALTER TABLE store ADD COLUMN epoch INTEGER NOT NULL DEFAULT 1 CHECK (epoch > 0);
ALTER TABLE store ADD COLUMN has_standbys INTEGER NOT NULL DEFAULT 0 CHECK (has_standbys IN (0, 1));  -- or had some

-- Where a copy stands in the first server's transactions; no row in the database of a server that decides.
CREATE TABLE followed (
  log_id TEXT NOT NULL PRIMARY KEY,
  number INTEGER NOT NULL CHECK (number >= 0)
) STRICT, WITHOUT ROWID;
