-- Who opened the pull request on which a record was taught, or pushed to it, as JSON. Empty if that is
-- not known. They don't approve the record.

-- +goose Up
ALTER TABLE memory_records ADD COLUMN authors TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE memory_records DROP COLUMN authors;
