-- +goose Up
-- What the last review took in of what others found, and their news that came
-- while one was on its way: review.ScansRead and a list of review.ScanNews, JSON.
ALTER TABLE targets ADD COLUMN scans TEXT NOT NULL DEFAULT '';
ALTER TABLE targets ADD COLUMN scan_news TEXT NOT NULL DEFAULT '';
-- Since when such news wait for their review, and when they last had one.
ALTER TABLE targets ADD COLUMN scan_asked INTEGER NOT NULL DEFAULT 0;
ALTER TABLE targets ADD COLUMN scanned_at INTEGER NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE targets DROP COLUMN scanned_at;
ALTER TABLE targets DROP COLUMN scan_asked;
ALTER TABLE targets DROP COLUMN scan_news;
ALTER TABLE targets DROP COLUMN scans;
