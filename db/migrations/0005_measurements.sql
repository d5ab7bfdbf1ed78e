-- What was measured, narrow and indexed: conditions and orders over all sweeps are answered from here.

-- Of the JSON that a trial's plan has; '' where it has none. Names are no part of what is hashed.
ALTER TABLE sweeps ADD COLUMN model_hash TEXT NOT NULL DEFAULT '';
ALTER TABLE sweeps ADD COLUMN training_hash TEXT NOT NULL DEFAULT '';
UPDATE sweeps SET
  model_hash = shape_hash((SELECT plan_json FROM trials WHERE sweep_id = sweeps.id ORDER BY number LIMIT 1), 'model'),
  training_hash = shape_hash((SELECT plan_json FROM trials WHERE sweep_id = sweeps.id ORDER BY number LIMIT 1), 'training');

CREATE TABLE measurements (
  id             INTEGER PRIMARY KEY,  -- grows with time
  source         TEXT NOT NULL CHECK (source IN ('ran', 'reused', 'imported')),
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
  outcome        TEXT NOT NULL CHECK (outcome IN ('ok', 'oom', 'failed', 'timeout', 'cancelled')),
  mfu            REAL,
  step_s         REAL,
  peak_bytes     INTEGER,
  CHECK ((source = 'imported') = (sweep_id IS NULL) AND (sweep_id IS NULL) = (trial IS NULL)),
  FOREIGN KEY (sweep_id, trial) REFERENCES trials (sweep_id, number) ON DELETE CASCADE
) STRICT;

INSERT INTO measurements (source, sweep_id, trial, model, cluster, model_hash, cluster_hash, training_hash,
  worker_version, devices, seq_len, global_batch, precision, layout, tp, cp, pp, dp, ep, etp, mb, vpp, zero, sp, hs,
  rc, sched, outcome, mfu, step_s, peak_bytes)
SELECT 'ran', s.id, t.number, s.model, s.cluster, s.model_hash, s.cluster_hash, s.training_hash, t.worker_version,
  s.devices, s.seq_len, s.global_batch, s.precision, t.layout, layout_value(t.layout, 'tp'),
  layout_value(t.layout, 'cp'), layout_value(t.layout, 'pp'), layout_value(t.layout, 'dp'),
  layout_value(t.layout, 'ep'), layout_value(t.layout, 'etp'), layout_value(t.layout, 'mb'),
  layout_value(t.layout, 'vpp'), layout_value(t.layout, 'zero'), layout_value(t.layout, 'sp'),
  layout_value(t.layout, 'hs'), layout_value(t.layout, 'rc'), layout_value(t.layout, 'sched'), t.state, t.mfu,
  t.step_s, t.peak_bytes
FROM trials AS t JOIN sweeps AS s ON s.id = t.sweep_id
WHERE t.result_json IS NOT NULL AND t.state IN ('ok', 'oom', 'failed', 'timeout', 'cancelled')
ORDER BY s.id, t.number;

CREATE UNIQUE INDEX measurements_by_trial ON measurements (sweep_id, trial);
CREATE INDEX measurements_by_shape
  ON measurements (model_hash, cluster_hash, training_hash, layout, worker_version);
-- They hold what conditions are about, so that one that few rows meet reads no row of the table in vain.
CREATE INDEX measurements_by_mfu ON measurements (mfu DESC, id, tp, cp, pp, dp, ep, etp, mb, vpp, zero, sp, hs, rc,
  sched, outcome, model, cluster, devices, seq_len, global_batch, precision, step_s, peak_bytes, source,
  worker_version);
CREATE INDEX measurements_by_step ON measurements (step_s, id, tp, cp, pp, dp, ep, etp, mb, vpp, zero, sp, hs, rc,
  sched, outcome, model, cluster, devices, seq_len, global_batch, precision, mfu, peak_bytes, source,
  worker_version);
CREATE INDEX measurements_by_model_mfu ON measurements (model, cluster, outcome, mfu DESC, id, tp, cp, pp, dp, ep,
  etp, mb, vpp, zero, sp, hs, rc, sched, devices, seq_len, global_batch, precision, source);
CREATE INDEX measurements_by_model_step ON measurements (model, cluster, outcome, step_s, id, tp, cp, pp, dp, ep,
  etp, mb, vpp, zero, sp, hs, rc, sched, devices, seq_len, global_batch, precision, source);
