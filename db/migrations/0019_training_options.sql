-- A run's options, each in a column of its name, for every training that a sweep or a measurement has. The columns are
-- added, with the values of trainings that are there, when the store is opened (db/training_options.h): a later option
-- needs no migration.
CREATE TABLE training_options (training_hash TEXT NOT NULL PRIMARY KEY) STRICT, WITHOUT ROWID;
INSERT INTO training_options (training_hash)
SELECT coalesce(training_hash, '') FROM sweeps UNION SELECT training_hash FROM measurements;
