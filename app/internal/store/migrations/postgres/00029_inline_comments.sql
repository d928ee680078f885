-- Our comments on lines of pull requests, one for each finding that has one.

-- +goose Up
CREATE TABLE inline_comments (
    target_key  TEXT    NOT NULL,
    fingerprint TEXT    NOT NULL, -- of the finding
    run_id      TEXT    NOT NULL, -- of the review that the comment was written with; empty if it was found on GitHub
    state       TEXT    NOT NULL,
    remote_id   BIGINT  NOT NULL, -- 0 while it is not known
    node_id     TEXT    NOT NULL, -- of GitHub's GraphQL API, as thread_id; empty while it is not known
    thread_id   TEXT    NOT NULL,
    PRIMARY KEY (target_key, fingerprint)
);

-- +goose Down
DROP TABLE inline_comments;
