-- Where several trials run side by side on an agent each has devices of its own, that follow each other.
ALTER TABLE placements ADD COLUMN first_device INTEGER NOT NULL DEFAULT 0 CHECK (first_device >= 0);
