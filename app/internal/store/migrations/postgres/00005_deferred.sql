-- What was merged and is to be seen to later, and the issue about it.

-- +goose Up
CREATE TABLE deferred (
    id          BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    repo_id     BIGINT  NOT NULL,
    kind        TEXT    NOT NULL, -- debt or gap
    key         TEXT    NOT NULL,
    state       TEXT    NOT NULL,
    changed     BIGINT  NOT NULL, -- GitHub has not been told all of it
    number      BIGINT  NOT NULL DEFAULT 0, -- of the issue
    path        TEXT    NOT NULL,
    subject     TEXT    NOT NULL,
    title       TEXT    NOT NULL,
    body        TEXT    NOT NULL,
    seen        BIGINT  NOT NULL DEFAULT 1, -- how often it was merged
    pulls       TEXT    NOT NULL,           -- the last of these merges, as JSON
    resolved_in BIGINT  NOT NULL DEFAULT 0,
    digest      TEXT    NOT NULL DEFAULT '',
    intended_at BIGINT  NOT NULL DEFAULT 0,
    UNIQUE (repo_id, kind, key)
);
CREATE INDEX deferred_changed ON deferred (repo_id, id) WHERE changed = 1;
CREATE INDEX deferred_intended ON deferred (repo_id, intended_at);

-- +goose Down
DROP TABLE deferred;
