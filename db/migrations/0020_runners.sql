-- The runner of a sweep whose trials are commands of the user's own framework: its name, the beginning of its file's
-- hash and the values of its fields, as the worker version of its results has them. '' where Meshwright's worker runs.
ALTER TABLE sweeps ADD COLUMN runner TEXT NOT NULL DEFAULT '';
