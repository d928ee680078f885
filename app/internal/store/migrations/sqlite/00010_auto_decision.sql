-- +goose Up
-- What would have been decided without a person; empty where no models took part.
ALTER TABLE audit ADD COLUMN auto_decision TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE audit DROP COLUMN auto_decision;
