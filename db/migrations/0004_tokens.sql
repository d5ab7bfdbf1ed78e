-- Tokens by which callers say who they are, and who caused an event.

-- The token itself is nowhere: only its hash.
CREATE TABLE tokens (
  name           TEXT NOT NULL PRIMARY KEY,
  hash           TEXT NOT NULL UNIQUE CHECK (length(hash) = 64),  -- SHA-256, hexadecimal
  role           TEXT NOT NULL CHECK (role IN ('viewer', 'operator', 'agent')),
  agent          TEXT NOT NULL DEFAULT '',  -- name of the agent that it belongs to; '' for other roles
  create_time_us INTEGER NOT NULL,
  expire_time_us INTEGER,  -- NULL: never
  revoke_time_us INTEGER,  -- NULL: it was not revoked
  CHECK ((role = 'agent') = (agent <> ''))
) STRICT, WITHOUT ROWID;
CREATE INDEX tokens_by_hash_start ON tokens (substr(hash, 1, 16));

ALTER TABLE events ADD COLUMN actor TEXT NOT NULL DEFAULT '';  -- '' where no caller was asked for
