-- What the tokens of attempts are made with, and what was decided about agents.

ALTER TABLE store ADD COLUMN attempt_secret TEXT NOT NULL DEFAULT '';  -- 256 random bits, hexadecimal
UPDATE store SET attempt_secret = lower(hex(randomblob(32)));

CREATE TABLE agent_standings (
  agent            TEXT NOT NULL PRIMARY KEY,
  drained          INTEGER NOT NULL CHECK (drained IN (0, 1)),
  failures         INTEGER NOT NULL CHECK (failures >= 0),  -- of what it runs on, in a row
  set_aside_reason TEXT NOT NULL  -- why it gets nothing new; '' where it was not set aside
) STRICT, WITHOUT ROWID;
