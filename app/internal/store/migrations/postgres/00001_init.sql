-- Times are microseconds since 1970 UTC, 0 for none. Booleans are 0 and 1.

-- +goose Up
CREATE TABLE targets (
    key              TEXT PRIMARY KEY,
    kind             TEXT    NOT NULL,
    installation     BIGINT  NOT NULL,
    repo_id          BIGINT  NOT NULL,
    owner            TEXT    NOT NULL,
    name             TEXT    NOT NULL,
    number           BIGINT  NOT NULL,
    head_sha         TEXT    NOT NULL,
    base_sha         TEXT    NOT NULL,
    head_ref         TEXT    NOT NULL,
    head_at          BIGINT  NOT NULL DEFAULT 0, -- when the head was last known, by GitHub's clock
    wanted           BIGINT  NOT NULL DEFAULT 0,
    done             BIGINT  NOT NULL DEFAULT 0,
    reason           TEXT    NOT NULL DEFAULT '',
    fresh_generation BIGINT  NOT NULL DEFAULT 0, -- newest generation that must write a new check run
    closed           BIGINT  NOT NULL DEFAULT 0,
    gave_up          BIGINT  NOT NULL DEFAULT 0, -- the generation that was finished last was given up
    gave_up_after    BIGINT  NOT NULL DEFAULT 0, -- ... and so was each one after this one
    attempts         BIGINT  NOT NULL DEFAULT 0,
    failed_since     BIGINT  NOT NULL DEFAULT 0, -- of the first of these attempts
    crashes          BIGINT  NOT NULL DEFAULT 0,
    retry_at         BIGINT  NOT NULL DEFAULT 0,
    notice           TEXT    NOT NULL DEFAULT '',
    result           TEXT    NOT NULL DEFAULT '', -- how the generation that was given up last ended
    reads_labels     BIGINT  NOT NULL DEFAULT 0,
    asked_at         BIGINT  NOT NULL DEFAULT 0, -- of the oldest ask that is not done
    job_kind         TEXT    NOT NULL DEFAULT '', -- of the newest job: review or publish
    job_seq          BIGINT  NOT NULL DEFAULT 0, -- ... and its number
    job_checked_at   BIGINT  NOT NULL DEFAULT 0  -- when that job was last known to be there
);
CREATE INDEX targets_head ON targets (repo_id, head_sha);
CREATE INDEX targets_unfinished ON targets (asked_at) WHERE wanted > done OR notice <> '';

CREATE TABLE deliveries (
    guid         TEXT PRIMARY KEY,
    event        TEXT    NOT NULL,
    action       TEXT    NOT NULL,
    installation BIGINT  NOT NULL,
    repo_id      BIGINT  NOT NULL,
    received_at  BIGINT  NOT NULL,
    target_key   TEXT    NOT NULL DEFAULT '', -- whose generation it raised
    generation   BIGINT  NOT NULL DEFAULT 0,
    gave_up      BIGINT  NOT NULL DEFAULT 0   -- its command, rerequest or sweep was given up
);

CREATE TABLE leases (
    key   TEXT PRIMARY KEY,
    owner TEXT    NOT NULL, -- empty while it is free
    token BIGINT  NOT NULL,
    until BIGINT  NOT NULL
);
CREATE INDEX leases_held ON leases (until) WHERE owner <> '';

CREATE TABLE reviews (
    id           BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run_id       TEXT    NOT NULL UNIQUE,
    target_key   TEXT    NOT NULL,
    generation   BIGINT  NOT NULL,
    repo_id      BIGINT  NOT NULL,
    head_sha     TEXT    NOT NULL,
    base_sha     TEXT    NOT NULL,
    decision     TEXT    NOT NULL,
    saved_at     BIGINT  NOT NULL,
    published_at BIGINT  NOT NULL DEFAULT 0,
    report       BYTEA   NOT NULL, -- pipeline.ReviewReport, JSON, gzip
    inputs       BYTEA   NOT NULL, -- pipeline.Review without its report, JSON, gzip
    record       BYTEA   NOT NULL  -- pipeline.RunRecord, JSON, gzip
);
CREATE INDEX reviews_target ON reviews (target_key, id, published_at, generation, head_sha);

-- Texts of config files, stored once each.
CREATE TABLE texts (
    sha256 BYTEA PRIMARY KEY,
    body   BYTEA NOT NULL
);

CREATE TABLE review_configs (
    run_id   TEXT    NOT NULL REFERENCES reviews (run_id) ON DELETE CASCADE,
    position BIGINT  NOT NULL,
    layer    TEXT    NOT NULL,
    path     TEXT    NOT NULL,
    blob_sha TEXT    NOT NULL,
    sha256   BYTEA   NOT NULL REFERENCES texts (sha256),
    PRIMARY KEY (run_id, position)
);

CREATE TABLE good_layers (
    repo_id BIGINT  NOT NULL,
    layer   TEXT    NOT NULL,
    source  TEXT    NOT NULL,
    PRIMARY KEY (repo_id, layer)
);

CREATE TABLE good_layer_files (
    repo_id    BIGINT  NOT NULL,
    layer      TEXT    NOT NULL,
    position   BIGINT  NOT NULL,
    file_layer TEXT    NOT NULL,
    path       TEXT    NOT NULL,
    blob_sha   TEXT    NOT NULL,
    sha256     BYTEA   NOT NULL REFERENCES texts (sha256),
    PRIMARY KEY (repo_id, layer, position)
);

CREATE TABLE writes (
    id          BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind        TEXT    NOT NULL,
    subject     TEXT    NOT NULL,
    target_key  TEXT    NOT NULL,
    head_sha    TEXT    NOT NULL,
    external_id TEXT    NOT NULL,
    remote_id   BIGINT  NOT NULL DEFAULT 0,
    state       TEXT    NOT NULL,
    digest      TEXT    NOT NULL DEFAULT '',
    intended_at BIGINT  NOT NULL
);
CREATE INDEX writes_subject ON writes (kind, subject, id);
CREATE INDEX writes_open ON writes (target_key, kind, id) WHERE state <> 'completed';

CREATE TABLE commands (
    comment_id  BIGINT PRIMARY KEY,
    target_key  TEXT    NOT NULL,
    target      TEXT    NOT NULL, -- review.Target, JSON
    sender      TEXT    NOT NULL,
    author      TEXT    NOT NULL,
    name        TEXT    NOT NULL,
    received_at BIGINT  NOT NULL,
    accepted    BIGINT  NOT NULL DEFAULT 0,
    generation  BIGINT  NOT NULL DEFAULT 0, -- that it raised its target to
    outcome     TEXT    NOT NULL DEFAULT '' -- empty until it is finished
);
CREATE INDEX commands_target ON commands (target_key, received_at);

-- How far what is done over and over has come.
CREATE TABLE marks (
    name TEXT PRIMARY KEY,
    at   BIGINT  NOT NULL
);

-- Until when GitHub refuses an installation's calls, the App's own under 0.
CREATE TABLE refusals (
    installation BIGINT PRIMARY KEY,
    until        BIGINT  NOT NULL
);

-- The processes at work. One that is killed leaves its row, whose time then
-- runs out.
CREATE TABLE processes (
    name  TEXT PRIMARY KEY,
    until TIMESTAMPTZ NOT NULL
);

-- +goose Down
DROP TABLE processes;
DROP TABLE refusals;
DROP TABLE marks;
DROP TABLE commands;
DROP TABLE writes;
DROP TABLE good_layer_files;
DROP TABLE good_layers;
DROP TABLE review_configs;
DROP TABLE texts;
DROP TABLE reviews;
DROP TABLE leases;
DROP TABLE deliveries;
DROP TABLE targets;
