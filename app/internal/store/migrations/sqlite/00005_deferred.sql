-- What was merged and is to be seen to later, and the issue about it.

-- +goose Up
CREATE TABLE deferred (
    id          INTEGER PRIMARY KEY,
    repo_id     INTEGER NOT NULL,
    kind        TEXT    NOT NULL, -- debt or gap
    key         TEXT    NOT NULL,
    state       TEXT    NOT NULL,
    changed     INTEGER NOT NULL, -- GitHub has not been told all of it
    number      INTEGER NOT NULL DEFAULT 0, -- of the issue
    path        TEXT    NOT NULL,
    subject     TEXT    NOT NULL,
    title       TEXT    NOT NULL,
    body        TEXT    NOT NULL,
    seen        INTEGER NOT NULL DEFAULT 1, -- how often it was merged
    pulls       TEXT    NOT NULL,           -- the last of these merges, as JSON
    resolved_in INTEGER NOT NULL DEFAULT 0,
    digest      TEXT    NOT NULL DEFAULT '',
    intended_at INTEGER NOT NULL DEFAULT 0,
    UNIQUE (repo_id, kind, key)
) STRICT;
CREATE INDEX deferred_changed ON deferred (repo_id, id) WHERE changed = 1;
CREATE INDEX deferred_intended ON deferred (repo_id, intended_at);

-- +goose Down
DROP TABLE deferred;
