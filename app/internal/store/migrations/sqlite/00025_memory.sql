-- What people taught about findings that are wrong in a repository, and what keeps being found in it.

-- +goose Up
CREATE TABLE memory_records (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    repo_id      INTEGER NOT NULL, -- where it was taught
    installation INTEGER NOT NULL,
    owner        TEXT    NOT NULL,
    name         TEXT    NOT NULL,
    organisation INTEGER NOT NULL, -- 1: holds in all repositories of the owner
    state        TEXT    NOT NULL,
    models       INTEGER NOT NULL, -- 1: about models' findings; 0: about a rule's
    service      TEXT    NOT NULL,
    globs        TEXT    NOT NULL, -- JSON, or empty for none
    rule         TEXT    NOT NULL,
    agent        TEXT    NOT NULL,
    category     TEXT    NOT NULL,
    title        TEXT    NOT NULL,
    reason       TEXT    NOT NULL,
    blocked      INTEGER NOT NULL, -- 1: the finding by which it was taught blocked or was critical, or that is unknown
    author       TEXT    NOT NULL,
    author_id    INTEGER NOT NULL,
    own          INTEGER NOT NULL, -- 1: the author may have judged a change of their own
    approver     TEXT    NOT NULL,
    approver_id  INTEGER NOT NULL,
    created_at   INTEGER NOT NULL,
    used_at      INTEGER NOT NULL,
    hits         INTEGER NOT NULL,
    -- The finding by which it was taught.
    taught_on    TEXT    NOT NULL, -- key of the target
    number       INTEGER NOT NULL, -- of the pull request
    finding      TEXT    NOT NULL,
    base_ref     TEXT    NOT NULL,
    path         TEXT    NOT NULL,
    line         INTEGER NOT NULL,
    lines        TEXT    NOT NULL, -- digests of the flagged lines, separated by blanks
    merged       INTEGER NOT NULL, -- as in targets, once the target is deleted: 1, 0, or -1 if that is unknown
    closed       INTEGER NOT NULL, -- 1: the target was closed when it was deleted
    checked_at   TEXT    NOT NULL  -- the newest commit at which the lines were found
) STRICT;
CREATE INDEX memory_records_of ON memory_records (repo_id, state);
CREATE INDEX memory_records_taught ON memory_records (taught_on);
CREATE INDEX memory_records_owner ON memory_records (installation) WHERE organisation = 1;

-- Dismissals, as false positives, of findings like a record.
CREATE TABLE memory_votes (
    record_id INTEGER NOT NULL,
    repo_id   INTEGER NOT NULL,
    taught_on TEXT    NOT NULL,
    finding   TEXT    NOT NULL,
    person    TEXT    NOT NULL,
    person_id INTEGER NOT NULL,
    own       INTEGER NOT NULL,
    at        INTEGER NOT NULL,
    PRIMARY KEY (record_id, taught_on, finding, person)
) STRICT, WITHOUT ROWID;

CREATE TABLE memory_patterns (
    repo_id   INTEGER NOT NULL,
    service   TEXT    NOT NULL, -- empty for files of no service
    key       TEXT    NOT NULL,
    rule      TEXT    NOT NULL,
    category  TEXT    NOT NULL,
    title     TEXT    NOT NULL,
    severity  TEXT    NOT NULL,
    frequency INTEGER NOT NULL,
    last_seen INTEGER NOT NULL,
    example   TEXT    NOT NULL,
    PRIMARY KEY (repo_id, service, key)
) STRICT, WITHOUT ROWID;

-- The targets in which a pattern was found. Each counts once.
CREATE TABLE memory_sightings (
    repo_id     INTEGER NOT NULL,
    service     TEXT    NOT NULL,
    key         TEXT    NOT NULL,
    target_key  TEXT    NOT NULL,
    seen_before INTEGER NOT NULL, -- last_seen of the pattern before the target; 0 if it was new
    PRIMARY KEY (repo_id, service, key, target_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX memory_sightings_on ON memory_sightings (target_key);

-- What the review adds to memory once it is published, as JSON. Empty for nothing, and afterwards.
ALTER TABLE reviews ADD COLUMN memory_counts TEXT NOT NULL DEFAULT '';

-- Why a finding was dismissed: false_positive, wont_fix, duplicate or other. Empty for acceptances,
-- and for dismissals by older versions.
ALTER TABLE verdicts ADD COLUMN class TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE verdicts DROP COLUMN class;
ALTER TABLE reviews DROP COLUMN memory_counts;
DROP TABLE memory_sightings;
DROP TABLE memory_patterns;
DROP TABLE memory_votes;
DROP TABLE memory_records;
