-- +goose Up
-- Repositories of which a target was deleted because it was old: where none is
-- left, what else there is of them is found by these.
CREATE TABLE repositories (
    repo_id      BIGINT PRIMARY KEY,
    installation BIGINT NOT NULL,
    owner        TEXT   NOT NULL,
    name         TEXT   NOT NULL
);
CREATE INDEX repositories_installation ON repositories (installation);
-- Whether anybody waits for what is wanted of a target.
ALTER TABLE targets ADD COLUMN awaited BIGINT NOT NULL DEFAULT 1;

-- +goose Down
ALTER TABLE targets DROP COLUMN awaited;
DROP TABLE repositories;
