-- Who deleted a sweep, and when.

ALTER TABLE retired_names ADD COLUMN delete_time_us INTEGER;            -- NULL: before this was kept
ALTER TABLE retired_names ADD COLUMN actor TEXT NOT NULL DEFAULT '';  -- '' where nobody was asked
