-- Results are stored with fewer rows of indexes and cheaper checks, and conditions that nothing measured can meet are
-- answered without a look at what was measured.

-- A check is a row of alternatives in place of IN: SQLite makes a table of a list's values whenever it looks at one.
CREATE TABLE trials_3 (
  sweep_id      INTEGER NOT NULL,
  number        INTEGER NOT NULL,
  state         TEXT NOT NULL CHECK (state = 'pending' OR state = 'assigned' OR state = 'running' OR state = 'ok' OR
                                     state = 'oom' OR state = 'failed' OR state = 'timeout' OR state = 'cancelled'),
  reason        TEXT NOT NULL,
  attempt       INTEGER NOT NULL CHECK (attempt > 0),
  lost_attempts INTEGER NOT NULL DEFAULT 0,
  agent         TEXT NOT NULL DEFAULT '',
  host          TEXT NOT NULL DEFAULT '',
  reused_from   TEXT NOT NULL DEFAULT '',  -- name of the trial whose result it has, which may be gone; '' for none
  PRIMARY KEY (sweep_id, number),
  FOREIGN KEY (sweep_id, number) REFERENCES candidates (sweep_id, number) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
INSERT INTO trials_3 (sweep_id, number, state, reason, attempt, lost_attempts, agent, host, reused_from)
SELECT sweep_id, number, state, reason, attempt, lost_attempts, agent, host, reused_from FROM trials;
DROP TABLE trials;
ALTER TABLE trials_3 RENAME TO trials;

CREATE TABLE measurements_2 (
  id             INTEGER PRIMARY KEY,  -- grows with time
  source         TEXT NOT NULL CHECK (source = 'ran' OR source = 'reused' OR source = 'imported'),
  sweep_id       INTEGER,  -- NULL where it was imported
  trial          INTEGER,
  model          TEXT NOT NULL,
  cluster        TEXT NOT NULL,
  model_hash     TEXT NOT NULL,
  cluster_hash   TEXT NOT NULL,
  training_hash  TEXT NOT NULL,
  worker_version TEXT NOT NULL,
  devices        INTEGER NOT NULL,
  seq_len        INTEGER NOT NULL,
  global_batch   INTEGER NOT NULL,
  precision      TEXT NOT NULL,
  layout         TEXT NOT NULL,
  -- The layout's axes, by the names in its text; NULL where the text can't be read.
  tp INTEGER, cp INTEGER, pp INTEGER, dp INTEGER, ep INTEGER, etp INTEGER, mb INTEGER, vpp INTEGER,
  zero INTEGER, sp INTEGER, hs INTEGER, rc TEXT, sched TEXT,
  outcome        TEXT NOT NULL CHECK (outcome = 'ok' OR outcome = 'oom' OR outcome = 'failed' OR outcome = 'timeout' OR
                                      outcome = 'cancelled'),
  mfu            REAL,
  step_s         REAL,
  peak_bytes     INTEGER,
  step_noise     REAL,  -- standard deviation of the step time's logarithm; NULL where it is not known
  CHECK ((source = 'imported') = (sweep_id IS NULL) AND (sweep_id IS NULL) = (trial IS NULL)),
  FOREIGN KEY (sweep_id, trial) REFERENCES trials (sweep_id, number) ON DELETE CASCADE
) STRICT;
INSERT INTO measurements_2 (id, source, sweep_id, trial, model, cluster, model_hash, cluster_hash, training_hash,
  worker_version, devices, seq_len, global_batch, precision, layout, tp, cp, pp, dp, ep, etp, mb, vpp, zero, sp, hs,
  rc, sched, outcome, mfu, step_s, peak_bytes, step_noise)
SELECT id, source, sweep_id, trial, model, cluster, model_hash, cluster_hash, training_hash, worker_version, devices,
  seq_len, global_batch, precision, layout, tp, cp, pp, dp, ep, etp, mb, vpp, zero, sp, hs, rc, sched, outcome, mfu,
  step_s, peak_bytes, step_noise
FROM measurements ORDER BY id;
DROP TABLE measurements;
ALTER TABLE measurements_2 RENAME TO measurements;

CREATE UNIQUE INDEX measurements_by_trial ON measurements (sweep_id, trial);
-- These hold what conditions are about, so that one that few rows meet reads no row of the table in vain.
CREATE INDEX measurements_by_mfu ON measurements (mfu DESC, id, tp, cp, pp, dp, ep, etp, mb, vpp, zero, sp, hs, rc,
  sched, outcome, model, cluster, devices, seq_len, global_batch, precision, step_s, peak_bytes, source,
  worker_version);
CREATE INDEX measurements_by_step ON measurements (step_s, id, tp, cp, pp, dp, ep, etp, mb, vpp, zero, sp, hs, rc,
  sched, outcome, model, cluster, devices, seq_len, global_batch, precision, mfu, peak_bytes, source,
  worker_version);
-- Of one model on one cluster all rows with an outcome may be looked at, in whichever order they are wanted.
CREATE INDEX measurements_by_model ON measurements (model, cluster, outcome, mfu DESC, id, tp, cp, pp, dp, ep, etp, mb,
  vpp, zero, sp, hs, rc, sched, devices, seq_len, global_batch, precision, step_s, source);

-- What a sweep's results are results of is the same for all of them.
CREATE INDEX sweeps_by_shape ON sweeps (model_hash, cluster_hash, training_hash);

-- What anything measured may have, each once: layouts and settings of all candidates and imports there ever were, and
-- where measurements are from and what came of them.
CREATE TABLE layouts (
  layout TEXT NOT NULL PRIMARY KEY,
  tp INTEGER, cp INTEGER, pp INTEGER, dp INTEGER, ep INTEGER, etp INTEGER, mb INTEGER, vpp INTEGER,
  zero INTEGER, sp INTEGER, hs INTEGER, rc TEXT, sched TEXT
) STRICT, WITHOUT ROWID;
INSERT INTO layouts (layout, tp, cp, pp, dp, ep, etp, mb, vpp, zero, sp, hs, rc, sched)
SELECT layout, layout_value(layout, 'tp'), layout_value(layout, 'cp'), layout_value(layout, 'pp'),
  layout_value(layout, 'dp'), layout_value(layout, 'ep'), layout_value(layout, 'etp'), layout_value(layout, 'mb'),
  layout_value(layout, 'vpp'), layout_value(layout, 'zero'), layout_value(layout, 'sp'), layout_value(layout, 'hs'),
  layout_value(layout, 'rc'), layout_value(layout, 'sched')
FROM (SELECT layout FROM candidates UNION SELECT layout FROM measurements);
CREATE TABLE settings (
  model        TEXT NOT NULL,
  cluster      TEXT NOT NULL,
  devices      INTEGER NOT NULL,
  seq_len      INTEGER NOT NULL,
  global_batch INTEGER NOT NULL,
  precision    TEXT NOT NULL,
  PRIMARY KEY (model, cluster, devices, seq_len, global_batch, precision)
) STRICT, WITHOUT ROWID;
INSERT INTO settings (model, cluster, devices, seq_len, global_batch, precision)
SELECT model, cluster, devices, seq_len, global_batch, precision FROM sweeps
UNION SELECT model, cluster, devices, seq_len, global_batch, precision FROM measurements;
CREATE TABLE origins (
  source         TEXT NOT NULL,
  worker_version TEXT NOT NULL,
  outcome        TEXT NOT NULL,
  PRIMARY KEY (source, worker_version, outcome)
) STRICT, WITHOUT ROWID;
INSERT INTO origins (source, worker_version, outcome)
SELECT DISTINCT source, worker_version, outcome FROM measurements;
