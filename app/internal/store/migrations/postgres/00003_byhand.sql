-- +goose Up
ALTER TABLE targets ADD COLUMN rerun TEXT NOT NULL DEFAULT ''; -- review.Rerun of what is wanted, JSON; empty for the zero value

-- What somebody said of a finding of a target. The last word counts.
CREATE TABLE verdicts (
    target_key  TEXT    NOT NULL,
    fingerprint TEXT    NOT NULL,
    accepted    BIGINT  NOT NULL, -- 0: dismissed
    path        TEXT    NOT NULL, -- of a dismissal, as are those below but the person
    reason      TEXT    NOT NULL,
    override    BIGINT  NOT NULL,
    person      TEXT    NOT NULL,
    PRIMARY KEY (target_key, fingerprint)
);

-- Decisions that people took in the gate's place.
CREATE TABLE hand_decisions (
    target_key TEXT    NOT NULL,
    head_sha   TEXT    NOT NULL,
    base_ref   TEXT    NOT NULL,
    action     TEXT    NOT NULL,
    person     TEXT    NOT NULL,
    reason     TEXT    NOT NULL,
    at         BIGINT  NOT NULL,
    PRIMARY KEY (target_key, head_sha, base_ref)
);

-- What people decided. Rows are only ever added.
CREATE TABLE audit (
    id         BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at         BIGINT  NOT NULL,
    repo_id    BIGINT  NOT NULL,
    target_key TEXT    NOT NULL,
    head_sha   TEXT    NOT NULL,
    actor      TEXT    NOT NULL,
    action     TEXT    NOT NULL,
    subject    TEXT    NOT NULL,
    reason     TEXT    NOT NULL
);
CREATE INDEX audit_target ON audit (target_key, id);

-- +goose Down
DROP TABLE audit;
DROP TABLE hand_decisions;
DROP TABLE verdicts;
ALTER TABLE targets DROP COLUMN rerun;
