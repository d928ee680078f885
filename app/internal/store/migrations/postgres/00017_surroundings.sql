-- +goose Up
-- What a person said is bound to the code around the finding. Of what was said before
-- that is not known, so it must be confirmed.
ALTER TABLE verdicts ADD COLUMN surroundings TEXT NOT NULL DEFAULT 'unknown';

-- +goose Down
ALTER TABLE verdicts DROP COLUMN surroundings;
