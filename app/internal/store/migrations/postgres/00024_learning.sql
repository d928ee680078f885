-- The log of each pull request, from which outcomes and analytics are computed. Rows are only
-- ever added. An event has one row, however often it arrives. at is the event's time; the ids of
-- reviews are in the order in which they were published.

-- +goose Up
CREATE TABLE learning (
    id         BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    target_key TEXT NOT NULL,
    event      TEXT NOT NULL,
    repo_id    BIGINT NOT NULL,
    at         BIGINT NOT NULL,
    body       TEXT NOT NULL, -- learning.Entry, JSON
    UNIQUE (target_key, event)
);
CREATE INDEX learning_log ON learning (target_key, id);

-- What is in it of each pull request. repository is its newest owner/name, and newest the time of
-- the newest entry.
CREATE TABLE learning_logs (
    target_key TEXT NOT NULL PRIMARY KEY,
    repo_id    BIGINT NOT NULL,
    repository TEXT NOT NULL,
    newest     BIGINT NOT NULL
);
CREATE INDEX learning_logs_repository ON learning_logs (repo_id, target_key);
CREATE INDEX learning_logs_newest ON learning_logs (newest);

-- The entry that a review adds to the log when it is published.
ALTER TABLE reviews ADD COLUMN entry TEXT NOT NULL DEFAULT '';

-- When a command was written, and when the command was that said something of a finding, by
-- GitHub's clock: deliveries arrive in any order.
ALTER TABLE commands ADD COLUMN written_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE verdicts ADD COLUMN said_at BIGINT NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE verdicts DROP COLUMN said_at;
ALTER TABLE commands DROP COLUMN written_at;
ALTER TABLE reviews DROP COLUMN entry;
DROP TABLE learning_logs;
DROP TABLE learning;
