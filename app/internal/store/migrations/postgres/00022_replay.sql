-- What a replay checks: a digest of everything that is stored of a review, and in words
-- what a review lacks that an older version saved.

-- +goose Up
ALTER TABLE reviews ADD COLUMN digest BYTEA NOT NULL DEFAULT '';
ALTER TABLE reviews ADD COLUMN lacks TEXT NOT NULL DEFAULT '';
UPDATE reviews SET lacks = 'the version that saved it stored no digest, so a change of what is stored would not be noticed; and it did not store apart which stage failed, what a model proposed for gaps, and how the trial of a proposed config ended';

-- How a pull request ended, for backtests. Of those closed before, that is unknown.
ALTER TABLE targets ADD COLUMN merged BIGINT NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE targets DROP COLUMN merged;
ALTER TABLE reviews DROP COLUMN lacks;
ALTER TABLE reviews DROP COLUMN digest;
