-- +goose Up
-- When the generation that was finished last was given up: a decision by hand that was sent
-- before is not about it.
ALTER TABLE targets ADD COLUMN gave_up_at BIGINT NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE targets DROP COLUMN gave_up_at;
