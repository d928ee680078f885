-- Who opened a pull request, by the account's id, 0 if that is unknown. While others
-- wait, each author and each repository has a share of the queue: job_low is 2 for a
-- target whose job waits for its share.

-- +goose Up
ALTER TABLE targets ADD COLUMN author INTEGER NOT NULL DEFAULT 0;
CREATE INDEX targets_of_author ON targets (author, job_low, asked_at) WHERE wanted > done;
CREATE INDEX targets_of_repository ON targets (repo_id, job_low, asked_at) WHERE wanted > done;

-- +goose Down
DROP INDEX targets_of_repository;
DROP INDEX targets_of_author;
ALTER TABLE targets DROP COLUMN author;
