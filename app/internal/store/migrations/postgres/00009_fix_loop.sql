-- +goose Up
-- Where the fix loop stands after a review, and where that of a target does:
-- fixloop.State, JSON. A review's becomes its target's when it is published.
ALTER TABLE reviews ADD COLUMN fix_loop TEXT NOT NULL DEFAULT '';
ALTER TABLE targets ADD COLUMN fix_loop TEXT NOT NULL DEFAULT '';
-- How many times people have had it go on after it was escalated.
ALTER TABLE targets ADD COLUMN fix_resumes BIGINT NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE targets DROP COLUMN fix_resumes;
ALTER TABLE targets DROP COLUMN fix_loop;
ALTER TABLE reviews DROP COLUMN fix_loop;
