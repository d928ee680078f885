-- GitHub numbers the comments of each place for themselves.

-- +goose Up
ALTER TABLE commands
    ADD COLUMN place TEXT NOT NULL DEFAULT 'issue_comment',
    ADD COLUMN args  TEXT NOT NULL DEFAULT '', -- the rest of the line, without secrets
    DROP CONSTRAINT commands_pkey,
    ADD PRIMARY KEY (place, comment_id);
ALTER TABLE commands ALTER COLUMN place DROP DEFAULT;

-- +goose Down
DELETE FROM commands WHERE place <> 'issue_comment';
ALTER TABLE commands
    DROP CONSTRAINT commands_pkey,
    DROP COLUMN place,
    DROP COLUMN args,
    ADD PRIMARY KEY (comment_id);
