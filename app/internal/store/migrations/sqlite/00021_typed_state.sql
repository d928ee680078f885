-- Values that shared a text get columns of their own.

-- +goose Up
-- Of a check: its conclusion, and the digest of the output that is being sent to it. Of a
-- review: its verdict and the branch that it is for. Of requests: whom GitHub was asked
-- to let review, and whom it is being asked, separated by blanks.
ALTER TABLE writes ADD COLUMN conclusion TEXT NOT NULL DEFAULT '';
ALTER TABLE writes ADD COLUMN sending    TEXT NOT NULL DEFAULT '';
ALTER TABLE writes ADD COLUMN verdict    TEXT NOT NULL DEFAULT '';
ALTER TABLE writes ADD COLUMN base_ref   TEXT NOT NULL DEFAULT '';
ALTER TABLE writes ADD COLUMN asked      TEXT NOT NULL DEFAULT '';
ALTER TABLE writes ADD COLUMN asking     TEXT NOT NULL DEFAULT '';
-- A check's digest was "CONCLUSION DIGEST", after "sending " while it was being sent.
UPDATE writes SET sending = substr(digest, 9), digest = '' WHERE kind = 'check' AND digest LIKE 'sending %';
UPDATE writes SET conclusion = substr(sending, 1, instr(sending, ' ') - 1), sending = substr(sending, instr(sending, ' ') + 1)
    WHERE kind = 'check' AND instr(sending, ' ') > 0;
UPDATE writes SET conclusion = substr(digest, 1, instr(digest, ' ') - 1), digest = substr(digest, instr(digest, ' ') + 1)
    WHERE kind = 'check' AND instr(digest, ' ') > 0;
-- A review's was "VERDICT BRANCH".
UPDATE writes SET verdict = substr(digest, 1, instr(digest, ' ') - 1), base_ref = substr(digest, instr(digest, ' ') + 1), digest = ''
    WHERE kind = 'review' AND instr(digest, ' ') > 0;
-- That of requests was "ASKED ASKED +ASKING +ASKING".
UPDATE writes SET asked = rtrim(substr(digest, 1, instr(digest || '+', '+') - 1)),
    asking = replace(substr(digest, instr(digest || '+', '+') + 1), ' +', ' '), digest = '' WHERE kind = 'requests';

-- The generation that could not even be given up when its time was over, and how many
-- attempts at it had failed then. This was a result in words.
ALTER TABLE targets ADD COLUMN overdue_generation INTEGER NOT NULL DEFAULT 0;
ALTER TABLE targets ADD COLUMN overdue_attempts   INTEGER NOT NULL DEFAULT 0;
UPDATE targets SET overdue_generation = CAST(substr(result, 22) AS INTEGER),
    overdue_attempts = CAST(substr(result, instr(result, ' since attempt ') + 15) AS INTEGER), result = ''
    WHERE result LIKE 'giving up generation % since attempt %';

-- The branch whose config a target has, empty for the default branch. This was the source
-- of a config layer.
ALTER TABLE targets ADD COLUMN config_branch TEXT NOT NULL DEFAULT '';
UPDATE targets SET config_branch = coalesce((SELECT g.source FROM good_layers g WHERE g.repo_id = targets.repo_id AND g.layer = 'branch of ' || targets.key), '');

-- The full names under which a repository was seen, in lower case, the first one first.
-- These were the source of a config layer, separated by blanks.
CREATE TABLE repository_names (
    repo_id  INTEGER NOT NULL,
    name     TEXT    NOT NULL,
    position INTEGER NOT NULL,
    PRIMARY KEY (repo_id, name)
) STRICT, WITHOUT ROWID;
INSERT INTO repository_names (repo_id, name, position)
    SELECT g.repo_id, n.value, n.key + 1 FROM good_layers g, json_each('["' || replace(g.source, ' ', '","') || '"]') n
    WHERE g.layer = 'names' AND n.value <> '';
DELETE FROM good_layers WHERE layer = 'names' OR layer LIKE 'branch of %';

-- A head whose pull request got another base branch is no push. Its base branches were in
-- place of the head before.
CREATE TABLE new_pushes (
    target_key TEXT    NOT NULL,
    head_sha   TEXT    NOT NULL,
    before_sha TEXT    NOT NULL,
    sender     TEXT    NOT NULL,
    sender_id  INTEGER NOT NULL,
    retargeted INTEGER NOT NULL,
    from_base  TEXT    NOT NULL,
    to_base    TEXT    NOT NULL,
    PRIMARY KEY (target_key, head_sha, before_sha, sender, retargeted, from_base, to_base)
) STRICT, WITHOUT ROWID;
INSERT INTO new_pushes (target_key, head_sha, before_sha, sender, sender_id, retargeted, from_base, to_base)
    SELECT target_key, head_sha, before_sha, sender, sender_id, 0, '', '' FROM pushes WHERE instr(before_sha, ' ') = 0;
INSERT INTO new_pushes (target_key, head_sha, before_sha, sender, sender_id, retargeted, from_base, to_base)
    SELECT target_key, head_sha, '', sender, sender_id, 1, substr(before_sha, 1, instr(before_sha, ' ') - 1), substr(before_sha, instr(before_sha, ' ') + 1)
    FROM pushes WHERE instr(before_sha, ' ') > 0;
DROP TABLE pushes;
ALTER TABLE new_pushes RENAME TO pushes;

-- +goose Down
CREATE TABLE old_pushes (
    target_key TEXT NOT NULL,
    head_sha   TEXT NOT NULL,
    before_sha TEXT NOT NULL,
    sender     TEXT NOT NULL,
    sender_id  INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (target_key, head_sha, before_sha, sender)
) STRICT, WITHOUT ROWID;
INSERT INTO old_pushes (target_key, head_sha, before_sha, sender, sender_id)
    SELECT target_key, head_sha, CASE WHEN retargeted = 1 THEN from_base || ' ' || to_base ELSE before_sha END, sender, sender_id FROM pushes;
DROP TABLE pushes;
ALTER TABLE old_pushes RENAME TO pushes;

INSERT INTO good_layers (repo_id, layer, source)
    SELECT repo_id, 'names', group_concat(name, ' ') FROM (SELECT * FROM repository_names ORDER BY repo_id, position) GROUP BY repo_id;
DROP TABLE repository_names;

INSERT INTO good_layers (repo_id, layer, source) SELECT repo_id, 'branch of ' || key, config_branch FROM targets WHERE config_branch <> '';
ALTER TABLE targets DROP COLUMN config_branch;

UPDATE targets SET result = 'giving up generation ' || overdue_generation || ' since attempt ' || overdue_attempts WHERE overdue_generation > 0;
ALTER TABLE targets DROP COLUMN overdue_attempts;
ALTER TABLE targets DROP COLUMN overdue_generation;

UPDATE writes SET digest = CASE
    WHEN sending <> '' THEN 'sending ' || conclusion || ' ' || sending
    WHEN conclusion <> '' THEN conclusion || ' ' || digest
    WHEN verdict <> '' THEN verdict || ' ' || base_ref
    WHEN asking <> '' THEN ltrim(asked || ' +' || replace(asking, ' ', ' +'))
    WHEN asked <> '' THEN asked
    ELSE digest END;
ALTER TABLE writes DROP COLUMN asking;
ALTER TABLE writes DROP COLUMN asked;
ALTER TABLE writes DROP COLUMN base_ref;
ALTER TABLE writes DROP COLUMN verdict;
ALTER TABLE writes DROP COLUMN sending;
ALTER TABLE writes DROP COLUMN conclusion;
