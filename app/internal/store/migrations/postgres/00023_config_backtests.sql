-- What the config that a pull request proposes would have decided otherwise in stored
-- reviews, as JSON. It belongs to one head and one proposal.

-- +goose Up
CREATE TABLE config_backtests (
    target_key TEXT NOT NULL PRIMARY KEY,
    head_sha   TEXT NOT NULL,
    proposal   TEXT NOT NULL,
    result     TEXT NOT NULL,
    saved_at   BIGINT NOT NULL
);

-- +goose Down
DROP TABLE config_backtests;
