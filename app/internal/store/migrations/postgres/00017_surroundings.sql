-- +goose Up
-- What a person said is bound to the code around the finding. Of what was said before
-- that is not known, so it must be confirmed.
ALTER TABLE verdicts ADD COLUMN surroundings TEXT NOT NULL DEFAULT 'unknown';
-- Who an account is its id tells: a login can become another's.
ALTER TABLE pushes ADD COLUMN sender_id BIGINT NOT NULL DEFAULT 0;
ALTER TABLE commands ADD COLUMN sender_id BIGINT NOT NULL DEFAULT 0;
ALTER TABLE commands ADD COLUMN author_id BIGINT NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE commands DROP COLUMN author_id;
ALTER TABLE commands DROP COLUMN sender_id;
ALTER TABLE pushes DROP COLUMN sender_id;
ALTER TABLE verdicts DROP COLUMN surroundings;
