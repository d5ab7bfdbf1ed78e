-- How far a measured step time may be off: standard deviation of its logarithm, by the trial's own steps. Null where it
-- had too few of them, and for what was measured before.
ALTER TABLE measurements ADD COLUMN step_noise REAL;
