-- +goose Up
-- Repositories of which a target was deleted because it was old: where none is
-- left, what else there is of them is found by these.
CREATE TABLE repositories (
    repo_id      INTEGER PRIMARY KEY,
    installation INTEGER NOT NULL,
    owner        TEXT    NOT NULL,
    name         TEXT    NOT NULL
) STRICT;
CREATE INDEX repositories_installation ON repositories (installation);
-- Whether anybody waits for what is wanted of a target.
ALTER TABLE targets ADD COLUMN awaited INTEGER NOT NULL DEFAULT 1;

-- +goose Down
ALTER TABLE targets DROP COLUMN awaited;
DROP TABLE repositories;
