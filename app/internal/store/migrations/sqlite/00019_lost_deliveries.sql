-- Deliveries that GitHub's log shows as failed and that were not taken in since.
-- urgency is higher for those to look for sooner, at is when the first attempt that was
-- seen failed, attempt the newest, and next_at when to look for it again.

-- +goose Up
CREATE TABLE lost_deliveries (
    guid         TEXT PRIMARY KEY,
    attempt      INTEGER NOT NULL,
    event        TEXT NOT NULL,
    action       TEXT NOT NULL,
    status       INTEGER NOT NULL,
    at           INTEGER NOT NULL,
    installation INTEGER NOT NULL,
    repo_id      INTEGER NOT NULL,
    urgency      INTEGER NOT NULL,
    looks        INTEGER NOT NULL DEFAULT 0,
    next_at      INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

-- +goose Down
DROP TABLE lost_deliveries;
