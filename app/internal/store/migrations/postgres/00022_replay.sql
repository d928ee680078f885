-- What a replay checks: a digest of everything that is stored of a review, and in words
-- what a review lacks. The reviews of older versions have the default.

-- +goose Up
ALTER TABLE reviews ADD COLUMN digest BYTEA NOT NULL DEFAULT '';
ALTER TABLE reviews ADD COLUMN lacks TEXT NOT NULL
    DEFAULT 'saved by a version that stored no digest, so changes go unnoticed, nor which stage failed, which gaps a model proposed, or how the trial of a proposed config ended';

-- Whether a closed pull request was merged: 1, 0, or -1 if that is unknown.
ALTER TABLE targets ADD COLUMN merged BIGINT NOT NULL DEFAULT -1;

-- +goose Down
ALTER TABLE targets DROP COLUMN merged;
ALTER TABLE reviews DROP COLUMN lacks;
ALTER TABLE reviews DROP COLUMN digest;
