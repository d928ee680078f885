-- What was asked of language models: reviews stay within a budget of tokens by it.

-- +goose Up
CREATE TABLE model_use (
    id         BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    repo_id    BIGINT  NOT NULL,
    target_key TEXT    NOT NULL,
    agent      TEXT    NOT NULL,
    model      TEXT    NOT NULL,
    tokens     BIGINT  NOT NULL, -- what the question may take, until it is answered
    at         BIGINT  NOT NULL
);
CREATE INDEX model_use_target ON model_use (target_key);
CREATE INDEX model_use_day ON model_use (repo_id, at);

-- +goose Down
DROP TABLE model_use;
