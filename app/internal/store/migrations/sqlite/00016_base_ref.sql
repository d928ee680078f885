-- The branch that a review's change was to go into: a check on the same head that was
-- written for another branch answers for nothing. Empty for reviews saved before.

-- +goose Up
ALTER TABLE reviews ADD COLUMN base_ref TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE reviews DROP COLUMN base_ref;
