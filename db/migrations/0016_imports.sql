-- What was measured elsewhere, as a file told of it: who says so, and what the row has beside its figures.
CREATE TABLE imports (
  measurement    INTEGER PRIMARY KEY REFERENCES measurements (id) ON DELETE CASCADE,
  row_hash       TEXT NOT NULL UNIQUE,  -- SHA-256 of what the row says, so that it is there once
  origin         TEXT NOT NULL,         -- the row's `source`
  sweep          TEXT NOT NULL,         -- its `sweep`, which is none of this store's
  framework      TEXT NOT NULL,
  notes          TEXT NOT NULL,
  import_time_us INTEGER NOT NULL,
  actor          TEXT NOT NULL          -- who imported it; '' where nobody was asked
) STRICT;
