-- Sweeps, their trials, every attempt at a trial, and the numbered events that watchers read.
-- Times are microseconds since 1970, UTC; sizes are bytes; durations are seconds.

CREATE TABLE store (
  id TEXT NOT NULL  -- identity of this database; agents deliver results only to where they came from
) STRICT;
INSERT INTO store (id) VALUES (lower(hex(randomblob(16))));

CREATE TABLE sweeps (
  id                 INTEGER PRIMARY KEY AUTOINCREMENT,
  name               TEXT NOT NULL UNIQUE,
  request_id         TEXT UNIQUE,  -- NULL where the caller gave none
  state              TEXT NOT NULL CHECK (state IN ('pending', 'running', 'finished', 'cancelled')),
  reason             TEXT NOT NULL,
  create_time_us     INTEGER NOT NULL,
  end_time_us        INTEGER,
  model              TEXT NOT NULL,
  cluster            TEXT NOT NULL,
  cluster_json       TEXT NOT NULL,
  cluster_hash       TEXT NOT NULL,
  profile            TEXT NOT NULL,
  profile_json       TEXT NOT NULL,
  profile_hash       TEXT NOT NULL,
  devices            INTEGER NOT NULL CHECK (devices > 0),
  device_kind        TEXT NOT NULL CHECK (device_kind IN ('cpu', 'cuda')),
  seq_len            INTEGER NOT NULL,
  global_batch       INTEGER NOT NULL,
  precision          TEXT NOT NULL,
  steps              INTEGER NOT NULL,
  seed               INTEGER NOT NULL,
  memory_limit_bytes INTEGER,
  funnel_json        TEXT NOT NULL,
  planner_version    TEXT NOT NULL
) STRICT;

CREATE TABLE trials (
  sweep_id         INTEGER NOT NULL REFERENCES sweeps (id) ON DELETE CASCADE,
  number           INTEGER NOT NULL CHECK (number > 0),  -- rank by predicted MFU
  layout           TEXT NOT NULL,
  state            TEXT NOT NULL CHECK (state IN ('pending', 'assigned', 'running', 'ok', 'oom',
                                                  'failed', 'timeout', 'cancelled')),
  reason           TEXT NOT NULL,
  attempt          INTEGER NOT NULL CHECK (attempt > 0),
  lost_attempts    INTEGER NOT NULL DEFAULT 0,
  agent            TEXT NOT NULL DEFAULT '',
  host             TEXT NOT NULL DEFAULT '',
  lease_expires_us INTEGER,  -- NULL unless assigned or running
  plan_json        TEXT NOT NULL,
  predicted_json   TEXT NOT NULL,
  result_json      TEXT,
  worker_version   TEXT NOT NULL DEFAULT '',
  mfu              REAL,  -- measured
  step_s           REAL,
  peak_bytes       INTEGER,
  PRIMARY KEY (sweep_id, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX trials_by_state ON trials (state, sweep_id, number);
CREATE INDEX trials_by_mfu ON trials (sweep_id, mfu DESC, number);

CREATE TABLE attempts (
  sweep_id      INTEGER NOT NULL,
  trial         INTEGER NOT NULL,
  number        INTEGER NOT NULL CHECK (number > 0),
  agent         TEXT NOT NULL,
  host          TEXT NOT NULL,
  start_time_us INTEGER NOT NULL,
  end_time_us   INTEGER,
  outcome       TEXT NOT NULL DEFAULT '',
  reason        TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (sweep_id, trial, number),
  FOREIGN KEY (sweep_id, trial) REFERENCES trials (sweep_id, number) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE TABLE events (
  sequence  INTEGER PRIMARY KEY AUTOINCREMENT,
  sweep_id  INTEGER NOT NULL REFERENCES sweeps (id) ON DELETE CASCADE,
  trial     INTEGER NOT NULL DEFAULT 0,  -- 0: about the sweep itself
  attempt   INTEGER NOT NULL DEFAULT 0,
  kind      TEXT NOT NULL,
  message   TEXT NOT NULL,
  data_json TEXT NOT NULL DEFAULT '{}',
  time_us   INTEGER NOT NULL
) STRICT;
CREATE INDEX events_by_sweep ON events (sweep_id, sequence);
