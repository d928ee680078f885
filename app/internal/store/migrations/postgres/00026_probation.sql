-- The rules and agents that people of a repository judge wrong too often. They are computed from
-- the log again and again.

-- +goose Up
CREATE TABLE probations (
    repo_id    BIGINT NOT NULL,
    kind       TEXT NOT NULL, -- rule or agent
    id         TEXT NOT NULL,
    judged     BIGINT NOT NULL, -- pull requests
    people     BIGINT NOT NULL,
    share      DOUBLE PRECISION NOT NULL,
    share_high DOUBLE PRECISION NOT NULL, -- the upper end of its interval
    blocks     BIGINT NOT NULL,
    since      BIGINT NOT NULL,
    samples    TEXT NOT NULL, -- JSON
    PRIMARY KEY (repo_id, kind, id)
);

-- +goose Down
DROP TABLE probations;
