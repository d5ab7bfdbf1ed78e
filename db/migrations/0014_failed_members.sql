-- Of an attempt that gave no result: whether that is this member's doing.
ALTER TABLE placements ADD COLUMN failed INTEGER NOT NULL DEFAULT 0 CHECK (failed IN (0, 1));
UPDATE placements SET failed = 1
WHERE EXISTS (SELECT 1 FROM attempts AS a WHERE a.sweep_id = placements.sweep_id AND a.trial = placements.trial
              AND a.number = placements.attempt AND a.outcome IN ('lost', 'broken'));
