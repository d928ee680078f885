-- GitHub numbers the comments of each place for themselves.

-- +goose Up
CREATE TABLE placed_commands (
    place       TEXT    NOT NULL,
    comment_id  INTEGER NOT NULL,
    target_key  TEXT    NOT NULL,
    target      TEXT    NOT NULL, -- review.Target, JSON
    sender      TEXT    NOT NULL,
    author      TEXT    NOT NULL,
    name        TEXT    NOT NULL,
    args        TEXT    NOT NULL DEFAULT '', -- the rest of the line, without secrets
    received_at INTEGER NOT NULL,
    accepted    INTEGER NOT NULL DEFAULT 0,
    generation  INTEGER NOT NULL DEFAULT 0, -- that it raised its target to
    outcome     TEXT    NOT NULL DEFAULT '', -- empty until it is finished
    PRIMARY KEY (place, comment_id)
) STRICT;
INSERT INTO placed_commands (place, comment_id, target_key, target, sender, author, name, received_at, accepted, generation, outcome)
    SELECT 'issue_comment', comment_id, target_key, target, sender, author, name, received_at, accepted, generation, outcome FROM commands;
DROP TABLE commands;
ALTER TABLE placed_commands RENAME TO commands;
CREATE INDEX commands_target ON commands (target_key, received_at);

-- +goose Down
CREATE TABLE numbered_commands (
    comment_id  INTEGER PRIMARY KEY,
    target_key  TEXT    NOT NULL,
    target      TEXT    NOT NULL, -- review.Target, JSON
    sender      TEXT    NOT NULL,
    author      TEXT    NOT NULL,
    name        TEXT    NOT NULL,
    received_at INTEGER NOT NULL,
    accepted    INTEGER NOT NULL DEFAULT 0,
    generation  INTEGER NOT NULL DEFAULT 0, -- that it raised its target to
    outcome     TEXT    NOT NULL DEFAULT '' -- empty until it is finished
) STRICT;
INSERT INTO numbered_commands (comment_id, target_key, target, sender, author, name, received_at, accepted, generation, outcome)
    SELECT comment_id, target_key, target, sender, author, name, received_at, accepted, generation, outcome FROM commands
    WHERE place = 'issue_comment';
DROP TABLE commands;
ALTER TABLE numbered_commands RENAME TO commands;
CREATE INDEX commands_target ON commands (target_key, received_at);
