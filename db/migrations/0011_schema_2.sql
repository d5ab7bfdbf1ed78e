-- What many sweeps have in common is kept once, what is written once apart from what changes, and what
-- was decided beside what came of it.

-- By the hash of their shape (db/shapes.h).
CREATE TABLE models    (hash TEXT NOT NULL PRIMARY KEY, json TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE trainings (hash TEXT NOT NULL PRIMARY KEY, json TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE clusters  (hash TEXT NOT NULL PRIMARY KEY, json TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE profiles  (hash TEXT NOT NULL PRIMARY KEY, json TEXT NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE sweeps_2 (
  id                 INTEGER PRIMARY KEY AUTOINCREMENT,
  name               TEXT NOT NULL UNIQUE,
  state              TEXT NOT NULL CHECK (state IN ('pending', 'running', 'finished', 'cancelled')),
  reason             TEXT NOT NULL,
  create_time_us     INTEGER NOT NULL,
  end_time_us        INTEGER,
  model              TEXT NOT NULL,  -- the names of what the hashes stand for
  cluster            TEXT NOT NULL,
  profile            TEXT NOT NULL,
  model_hash         TEXT REFERENCES models (hash),  -- NULL where its plans have none
  training_hash      TEXT REFERENCES trainings (hash),
  cluster_hash       TEXT NOT NULL REFERENCES clusters (hash),
  profile_hash       TEXT NOT NULL REFERENCES profiles (hash),
  devices            INTEGER NOT NULL CHECK (devices > 0),
  device_kind        TEXT NOT NULL CHECK (device_kind IN ('cpu', 'cuda')),
  seq_len            INTEGER NOT NULL,
  global_batch       INTEGER NOT NULL,
  precision          TEXT NOT NULL,
  steps              INTEGER NOT NULL,
  seed               INTEGER NOT NULL,
  memory_limit_bytes INTEGER,
  planner_version    TEXT NOT NULL,
  rerun_of           TEXT NOT NULL DEFAULT ''  -- name of a sweep; '' for none
) STRICT;

-- What a sweep was asked for with, and what the search counted.
CREATE TABLE requests (
  sweep_id     INTEGER PRIMARY KEY REFERENCES sweeps (id) ON DELETE CASCADE,
  request_id   TEXT UNIQUE,            -- NULL where the caller gave none
  request_hash TEXT NOT NULL,          -- SHA-256 of request_json; '' where that was not kept
  request_json TEXT NOT NULL,          -- '' of a sweep of an earlier version
  funnel_json  TEXT NOT NULL
) STRICT;

INSERT INTO models
SELECT hash, min(shape_of(json)) FROM (
  SELECT shape_hash(plan_model(plan_json, '')) AS hash, plan_model(plan_json, '') AS json FROM trials
  WHERE number = (SELECT min(number) FROM trials AS other WHERE other.sweep_id = trials.sweep_id))
WHERE hash <> '' GROUP BY hash;
INSERT INTO trainings
SELECT hash, min(shape_of(json)) FROM (
  SELECT shape_hash(plan_training(plan_json, '')) AS hash, plan_training(plan_json, '') AS json FROM trials
  WHERE number = (SELECT min(number) FROM trials AS other WHERE other.sweep_id = trials.sweep_id))
WHERE hash <> '' GROUP BY hash;
INSERT INTO clusters SELECT shape_hash(cluster_json), min(shape_of(cluster_json)) FROM sweeps GROUP BY 1;
INSERT INTO profiles SELECT shape_hash(profile_json), min(shape_of(profile_json)) FROM sweeps GROUP BY 1;

INSERT INTO sweeps_2 (id, name, state, reason, create_time_us, end_time_us, model, cluster, profile, model_hash,
  training_hash, cluster_hash, profile_hash, devices, device_kind, seq_len, global_batch, precision, steps, seed,
  memory_limit_bytes, planner_version, rerun_of)
SELECT id, name, state, reason, create_time_us, end_time_us, model, cluster, profile, nullif(model_hash, ''),
  nullif(training_hash, ''), shape_hash(cluster_json), shape_hash(profile_json), devices, device_kind, seq_len,
  global_batch, precision, steps, seed, memory_limit_bytes, planner_version, rerun_of
FROM sweeps;
INSERT INTO requests (sweep_id, request_id, request_hash, request_json, funnel_json)
SELECT id, request_id, '', '', funnel_json FROM sweeps;

-- Layouts that a sweep chose, with what was predicted; written once.
CREATE TABLE candidates (
  id             INTEGER PRIMARY KEY,
  sweep_id       INTEGER NOT NULL REFERENCES sweeps (id) ON DELETE CASCADE,
  number         INTEGER NOT NULL CHECK (number > 0),  -- rank by predicted MFU
  layout         TEXT NOT NULL,
  requested      INTEGER NOT NULL DEFAULT 0 CHECK (requested IN (0, 1)),
  plan_json      TEXT NOT NULL,  -- without model and training, which its sweep has
  predicted_json TEXT NOT NULL,
  UNIQUE (sweep_id, number)
) STRICT;
INSERT INTO candidates (sweep_id, number, layout, requested, plan_json, predicted_json)
SELECT sweep_id, number, layout, requested, plan_own(plan_json, model), predicted_json
FROM trials JOIN sweeps ON sweeps.id = sweep_id
ORDER BY sweep_id, number;

-- Payloads of measurements, which conditions are never about.
CREATE TABLE results (
  measurement INTEGER PRIMARY KEY REFERENCES measurements (id) ON DELETE CASCADE,
  result_json TEXT NOT NULL
) STRICT;
INSERT INTO results (measurement, result_json)
SELECT m.id, t.result_json FROM measurements AS m
JOIN trials AS t ON t.sweep_id = m.sweep_id AND t.number = m.trial
ORDER BY m.id;

-- How far a candidate's run is: the rows that change. What came of it is its measurement.
CREATE TABLE trials_2 (
  sweep_id      INTEGER NOT NULL,
  number        INTEGER NOT NULL,
  state         TEXT NOT NULL CHECK (state IN ('pending', 'assigned', 'running', 'ok', 'oom', 'failed', 'timeout',
                                               'cancelled')),
  reason        TEXT NOT NULL,
  attempt       INTEGER NOT NULL CHECK (attempt > 0),
  lost_attempts INTEGER NOT NULL DEFAULT 0,
  agent         TEXT NOT NULL DEFAULT '',
  host          TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (sweep_id, number),
  FOREIGN KEY (sweep_id, number) REFERENCES candidates (sweep_id, number) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
INSERT INTO trials_2 (sweep_id, number, state, reason, attempt, lost_attempts, agent, host)
SELECT sweep_id, number, state, reason, attempt, lost_attempts, agent, host FROM trials;

-- Where an attempt runs: on one agent, or its ranks divided over several.
CREATE TABLE placements (
  sweep_id   INTEGER NOT NULL,
  trial      INTEGER NOT NULL,
  attempt    INTEGER NOT NULL,
  member     INTEGER NOT NULL CHECK (member >= 0),
  agent      TEXT NOT NULL,
  host       TEXT NOT NULL,
  first_rank INTEGER NOT NULL CHECK (first_rank >= 0),
  ranks      INTEGER NOT NULL CHECK (ranks > 0),
  PRIMARY KEY (sweep_id, trial, attempt, member),
  FOREIGN KEY (sweep_id, trial, attempt) REFERENCES attempts (sweep_id, trial, number) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
INSERT INTO placements (sweep_id, trial, attempt, member, agent, host, first_rank, ranks)
SELECT a.sweep_id, a.trial, a.number, 0, a.agent, a.host, 0, s.devices
FROM attempts AS a JOIN sweeps AS s ON s.id = a.sweep_id;
ALTER TABLE attempts DROP COLUMN agent;
ALTER TABLE attempts DROP COLUMN host;
-- Why this trial was next, on that agent, and by which version of the rules that decide it.
ALTER TABLE attempts ADD COLUMN decision TEXT NOT NULL DEFAULT '';
ALTER TABLE attempts ADD COLUMN policy_version INTEGER NOT NULL DEFAULT 0;  -- 0: of before they were numbered

DROP TABLE trials;
ALTER TABLE trials_2 RENAME TO trials;
-- Ids of deleted sweeps stay taken.
INSERT INTO sqlite_sequence (name, seq)
SELECT 'sweeps_2', 0 WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'sweeps_2');
UPDATE sqlite_sequence SET seq = (SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name IN ('sweeps', 'sweeps_2'))
WHERE name = 'sweeps_2';
DROP TABLE sweeps;
ALTER TABLE sweeps_2 RENAME TO sweeps;
CREATE INDEX sweeps_by_end ON sweeps (end_time_us) WHERE end_time_us IS NOT NULL;

UPDATE measurements SET cluster_hash = (SELECT cluster_hash FROM sweeps WHERE id = measurements.sweep_id)
WHERE sweep_id IS NOT NULL;
