-- The rules and agents that people of a repository judge wrong too often. They are computed from
-- the log again and again.

-- +goose Up
CREATE TABLE probations (
    repo_id    INTEGER NOT NULL,
    kind       TEXT NOT NULL, -- rule or agent
    id         TEXT NOT NULL,
    judged     INTEGER NOT NULL, -- pull requests
    people     INTEGER NOT NULL,
    share      REAL NOT NULL,
    share_high REAL NOT NULL, -- the upper end of its interval
    blocks     INTEGER NOT NULL,
    since      INTEGER NOT NULL,
    samples    TEXT NOT NULL, -- JSON
    PRIMARY KEY (repo_id, kind, id)
) STRICT;

-- +goose Down
DROP TABLE probations;
