-- +goose Up
-- Who opened pull requests and sent their pushes, as GitHub's events said.
-- before_sha is the head that a push replaced, and empty where the pull request was
-- opened.
CREATE TABLE pushes (
    target_key TEXT NOT NULL,
    head_sha   TEXT NOT NULL,
    before_sha TEXT NOT NULL,
    sender     TEXT NOT NULL,
    PRIMARY KEY (target_key, head_sha, before_sha, sender)
) STRICT, WITHOUT ROWID;

-- +goose Down
DROP TABLE pushes;
