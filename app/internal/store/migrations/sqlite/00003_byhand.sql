-- +goose Up
ALTER TABLE targets ADD COLUMN rerun TEXT NOT NULL DEFAULT ''; -- review.Rerun of what is wanted, JSON; empty for the zero value

-- What somebody said of a finding of a target. The last word counts.
CREATE TABLE verdicts (
    target_key  TEXT    NOT NULL,
    fingerprint TEXT    NOT NULL,
    accepted    INTEGER NOT NULL, -- 0: dismissed
    path        TEXT    NOT NULL, -- of a dismissal, as are those below but the person
    reason      TEXT    NOT NULL,
    override    INTEGER NOT NULL,
    person      TEXT    NOT NULL,
    PRIMARY KEY (target_key, fingerprint)
) STRICT, WITHOUT ROWID;

-- Decisions that people took in the gate's place.
CREATE TABLE hand_decisions (
    target_key TEXT    NOT NULL,
    head_sha   TEXT    NOT NULL,
    base_ref   TEXT    NOT NULL,
    action     TEXT    NOT NULL,
    person     TEXT    NOT NULL,
    reason     TEXT    NOT NULL,
    at         INTEGER NOT NULL,
    PRIMARY KEY (target_key, head_sha, base_ref)
) STRICT, WITHOUT ROWID;

-- What people decided. Rows are only ever added.
CREATE TABLE audit (
    id         INTEGER PRIMARY KEY,
    at         INTEGER NOT NULL,
    repo_id    INTEGER NOT NULL,
    target_key TEXT    NOT NULL,
    head_sha   TEXT    NOT NULL,
    actor      TEXT    NOT NULL,
    action     TEXT    NOT NULL,
    subject    TEXT    NOT NULL,
    reason     TEXT    NOT NULL
) STRICT;
CREATE INDEX audit_target ON audit (target_key, id);

-- +goose Down
DROP TABLE audit;
DROP TABLE hand_decisions;
DROP TABLE verdicts;
ALTER TABLE targets DROP COLUMN rerun;
