-- A sweep may choose as it goes which of its candidates to run: such a candidate has a row in `trials` only
-- once it was chosen.
ALTER TABLE sweeps ADD COLUMN max_trials INTEGER NOT NULL DEFAULT 0 CHECK (max_trials >= 0);  -- 0 where it chooses none
ALTER TABLE sweeps ADD COLUMN min_gain REAL NOT NULL DEFAULT 0 CHECK (min_gain >= 0);  -- a share of the best step

-- What the choice goes by; NULL of before it was kept.
ALTER TABLE candidates ADD COLUMN predicted_step_s REAL;
ALTER TABLE candidates ADD COLUMN oom_probability REAL;

-- Name of the trial whose result it has, as "sweep/trials/number", which may be gone; '' for none.
ALTER TABLE trials ADD COLUMN reused_from TEXT NOT NULL DEFAULT '';
