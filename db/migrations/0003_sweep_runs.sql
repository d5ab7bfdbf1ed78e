-- Layouts that a request named, sweeps that run another one's trials again, and deleted sweeps.

ALTER TABLE trials ADD COLUMN requested INTEGER NOT NULL DEFAULT 0 CHECK (requested IN (0, 1));
ALTER TABLE sweeps ADD COLUMN rerun_of TEXT NOT NULL DEFAULT '';  -- name of a sweep; '' for none

-- Names of deleted sweeps. A new sweep of such a name numbers its attempts from here on, so that no
-- late result of the old one can pass for one of its own.
CREATE TABLE retired_names (
  name         TEXT NOT NULL PRIMARY KEY,
  last_attempt INTEGER NOT NULL CHECK (last_attempt > 0)  -- the highest that a trial of it had
) STRICT, WITHOUT ROWID;

-- Some of these were shares of what the agents' own devices reached. All of a sweep are shares of the
-- peak that its predictions are against: a step of the predicted time has the predicted MFU.
UPDATE trials
SET mfu = coalesce(json_extract(predicted_json, '$.mfu') *
                   json_extract(predicted_json, '$.time.step_s') / step_s, mfu)
WHERE step_s > 0 AND json_valid(predicted_json);
