-- Times are microseconds since 1970 UTC, 0 for none. Booleans are 0 and 1.

-- +goose Up
CREATE TABLE targets (
    key              TEXT PRIMARY KEY,
    kind             TEXT    NOT NULL,
    installation     INTEGER NOT NULL,
    repo_id          INTEGER NOT NULL,
    owner            TEXT    NOT NULL,
    name             TEXT    NOT NULL,
    number           INTEGER NOT NULL,
    head_sha         TEXT    NOT NULL,
    base_sha         TEXT    NOT NULL,
    head_ref         TEXT    NOT NULL,
    head_at          INTEGER NOT NULL DEFAULT 0, -- when the head was last known, by GitHub's clock
    wanted           INTEGER NOT NULL DEFAULT 0,
    done             INTEGER NOT NULL DEFAULT 0,
    reason           TEXT    NOT NULL DEFAULT '',
    fresh_generation INTEGER NOT NULL DEFAULT 0, -- newest generation that must write a new check run
    closed           INTEGER NOT NULL DEFAULT 0,
    gave_up          INTEGER NOT NULL DEFAULT 0, -- the generation that was finished last was given up
    gave_up_after    INTEGER NOT NULL DEFAULT 0, -- ... and so was each one after this one
    attempts         INTEGER NOT NULL DEFAULT 0,
    failed_since     INTEGER NOT NULL DEFAULT 0, -- of the first of these attempts
    crashes          INTEGER NOT NULL DEFAULT 0,
    retry_at         INTEGER NOT NULL DEFAULT 0,
    notice           TEXT    NOT NULL DEFAULT '',
    result           TEXT    NOT NULL DEFAULT '', -- how the generation that was given up last ended
    reads_labels     INTEGER NOT NULL DEFAULT 0,
    asked_at         INTEGER NOT NULL DEFAULT 0, -- of the oldest ask that is not done
    job_kind         TEXT    NOT NULL DEFAULT '', -- of the newest job: review or publish
    job_seq          INTEGER NOT NULL DEFAULT 0, -- ... and its number
    job_checked_at   INTEGER NOT NULL DEFAULT 0  -- when that job was last known to be there
) STRICT, WITHOUT ROWID;
CREATE INDEX targets_head ON targets (repo_id, head_sha);
CREATE INDEX targets_unfinished ON targets (asked_at) WHERE wanted > done OR notice <> '';

CREATE TABLE deliveries (
    guid         TEXT PRIMARY KEY,
    event        TEXT    NOT NULL,
    action       TEXT    NOT NULL,
    installation INTEGER NOT NULL,
    repo_id      INTEGER NOT NULL,
    received_at  INTEGER NOT NULL,
    target_key   TEXT    NOT NULL DEFAULT '', -- whose generation it raised
    generation   INTEGER NOT NULL DEFAULT 0,
    gave_up      INTEGER NOT NULL DEFAULT 0   -- its command, rerequest or sweep was given up
) STRICT, WITHOUT ROWID;

CREATE TABLE leases (
    key   TEXT PRIMARY KEY,
    owner TEXT    NOT NULL, -- empty while it is free
    token INTEGER NOT NULL,
    until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX leases_held ON leases (until) WHERE owner <> '';

CREATE TABLE reviews (
    id           INTEGER PRIMARY KEY,
    run_id       TEXT    NOT NULL UNIQUE,
    target_key   TEXT    NOT NULL,
    generation   INTEGER NOT NULL,
    repo_id      INTEGER NOT NULL,
    head_sha     TEXT    NOT NULL,
    base_sha     TEXT    NOT NULL,
    decision     TEXT    NOT NULL,
    saved_at     INTEGER NOT NULL,
    published_at INTEGER NOT NULL DEFAULT 0,
    report       BLOB    NOT NULL, -- pipeline.ReviewReport, JSON, gzip
    inputs       BLOB    NOT NULL, -- pipeline.Review without its report, JSON, gzip
    record       BLOB    NOT NULL  -- pipeline.RunRecord, JSON, gzip
) STRICT;
CREATE INDEX reviews_target ON reviews (target_key, id, published_at, generation, head_sha);

-- Texts of config files, stored once each.
CREATE TABLE texts (
    sha256 BLOB PRIMARY KEY,
    body   BLOB NOT NULL
) STRICT;

CREATE TABLE review_configs (
    run_id   TEXT    NOT NULL REFERENCES reviews (run_id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    layer    TEXT    NOT NULL,
    path     TEXT    NOT NULL,
    blob_sha TEXT    NOT NULL,
    sha256   BLOB    NOT NULL REFERENCES texts (sha256),
    PRIMARY KEY (run_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE good_layers (
    repo_id INTEGER NOT NULL,
    layer   TEXT    NOT NULL,
    source  TEXT    NOT NULL,
    PRIMARY KEY (repo_id, layer)
) STRICT, WITHOUT ROWID;

CREATE TABLE good_layer_files (
    repo_id    INTEGER NOT NULL,
    layer      TEXT    NOT NULL,
    position   INTEGER NOT NULL,
    file_layer TEXT    NOT NULL,
    path       TEXT    NOT NULL,
    blob_sha   TEXT    NOT NULL,
    sha256     BLOB    NOT NULL REFERENCES texts (sha256),
    PRIMARY KEY (repo_id, layer, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE writes (
    id          INTEGER PRIMARY KEY,
    kind        TEXT    NOT NULL,
    subject     TEXT    NOT NULL,
    target_key  TEXT    NOT NULL,
    head_sha    TEXT    NOT NULL,
    external_id TEXT    NOT NULL,
    remote_id   INTEGER NOT NULL DEFAULT 0,
    state       TEXT    NOT NULL,
    digest      TEXT    NOT NULL DEFAULT '',
    intended_at INTEGER NOT NULL
) STRICT;
CREATE INDEX writes_subject ON writes (kind, subject, id);
CREATE INDEX writes_open ON writes (target_key, kind, id) WHERE state <> 'completed';

CREATE TABLE commands (
    comment_id  INTEGER PRIMARY KEY,
    target_key  TEXT    NOT NULL,
    target      TEXT    NOT NULL, -- review.Target, JSON
    sender      TEXT    NOT NULL,
    author      TEXT    NOT NULL,
    name        TEXT    NOT NULL,
    received_at INTEGER NOT NULL,
    accepted    INTEGER NOT NULL DEFAULT 0,
    generation  INTEGER NOT NULL DEFAULT 0, -- that it raised its target to
    outcome     TEXT    NOT NULL DEFAULT '' -- empty until it is finished
) STRICT;
CREATE INDEX commands_target ON commands (target_key, received_at);

-- How far what is done over and over has come.
CREATE TABLE marks (
    name TEXT PRIMARY KEY,
    at   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Until when GitHub refuses an installation's calls, the App's own under 0.
CREATE TABLE refusals (
    installation INTEGER PRIMARY KEY,
    until        INTEGER NOT NULL
) STRICT;

-- +goose Down
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
