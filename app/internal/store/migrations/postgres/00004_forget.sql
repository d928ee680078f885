-- +goose Up
ALTER TABLE targets ADD COLUMN closed_at BIGINT NOT NULL DEFAULT 0; -- when it was closed last
ALTER TABLE targets ADD COLUMN job_low   BIGINT NOT NULL DEFAULT 0; -- its newest job lets all others go first
-- What was closed before this was known counts from now on.
UPDATE targets SET closed_at = (extract(epoch FROM now()) * 1000000)::bigint WHERE closed = 1;
CREATE INDEX targets_closed ON targets (closed_at) WHERE closed = 1;
CREATE INDEX reviews_saved ON reviews (saved_at);
-- To find a text that nothing refers to.
CREATE INDEX review_configs_text ON review_configs (sha256);
CREATE INDEX good_layer_files_text ON good_layer_files (sha256);

-- +goose Down
DROP INDEX good_layer_files_text;
DROP INDEX review_configs_text;
DROP INDEX reviews_saved;
DROP INDEX targets_closed;
ALTER TABLE targets DROP COLUMN job_low;
ALTER TABLE targets DROP COLUMN closed_at;
