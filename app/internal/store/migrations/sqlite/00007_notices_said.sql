-- +goose Up
-- Notices that were said a while ago at most, JSON. Those that are to be said
-- are a list of texts in the column notice, or one text from before.
ALTER TABLE targets ADD COLUMN notices_said TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE targets DROP COLUMN notices_said;
