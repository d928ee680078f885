-- The changed files of reviews, stored once for each target however often it is
-- reviewed: what changes between two reviews is often the title alone. Reviews that
-- were saved before keep their files among their inputs.

-- +goose Up
CREATE TABLE changed_files (
    target_key TEXT NOT NULL,
    sha256     BLOB NOT NULL, -- of the body
    body       BLOB NOT NULL, -- pipeline.File, one JSON value after the other, gzip
    PRIMARY KEY (target_key, sha256)
) STRICT;

CREATE TABLE review_files (
    run_id     TEXT NOT NULL PRIMARY KEY REFERENCES reviews (run_id) ON DELETE CASCADE,
    target_key TEXT NOT NULL,
    sha256     BLOB NOT NULL,
    FOREIGN KEY (target_key, sha256) REFERENCES changed_files (target_key, sha256)
) STRICT, WITHOUT ROWID;
CREATE INDEX review_files_of ON review_files (target_key, sha256);

-- An older reviewgate can't read a review without its files.
-- +goose Down
DELETE FROM reviews WHERE run_id IN (SELECT run_id FROM review_files);
DROP TABLE review_files;
DROP TABLE changed_files;
