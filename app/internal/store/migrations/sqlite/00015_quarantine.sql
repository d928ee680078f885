-- A review that ended its process is quarantined: over pushes and asks, how many
-- child processes it has ended, since when, and when it is tried again.

-- +goose Up
ALTER TABLE targets ADD COLUMN deaths         INTEGER NOT NULL DEFAULT 0;
ALTER TABLE targets ADD COLUMN quarantined_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE targets ADD COLUMN next_try       INTEGER NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE targets DROP COLUMN next_try;
ALTER TABLE targets DROP COLUMN quarantined_at;
ALTER TABLE targets DROP COLUMN deaths;
