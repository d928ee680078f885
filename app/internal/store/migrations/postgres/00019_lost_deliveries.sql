-- Deliveries that GitHub's log shows as failed and that were not taken in since.
-- urgency is higher for those to look for sooner, at is when the first attempt that was
-- seen failed, attempt the newest, and next_at when to look for it again.

-- +goose Up
CREATE TABLE lost_deliveries (
    guid         TEXT PRIMARY KEY,
    attempt      BIGINT NOT NULL,
    event        TEXT NOT NULL,
    action       TEXT NOT NULL,
    status       BIGINT NOT NULL,
    at           BIGINT NOT NULL,
    installation BIGINT NOT NULL,
    repo_id      BIGINT NOT NULL,
    urgency      BIGINT NOT NULL,
    looks        BIGINT NOT NULL DEFAULT 0,
    next_at      BIGINT NOT NULL DEFAULT 0
);

-- +goose Down
DROP TABLE lost_deliveries;
