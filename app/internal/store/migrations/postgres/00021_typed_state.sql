-- Values that shared a text get columns of their own.

-- +goose Up
-- Of a check: its conclusion, and the digest of the output that is being sent to it. Of a
-- review: its verdict and the branch that it is for. Of requests: whom GitHub was asked
-- to let review, and whom it is being asked, separated by blanks.
ALTER TABLE writes
    ADD COLUMN conclusion TEXT NOT NULL DEFAULT '',
    ADD COLUMN sending    TEXT NOT NULL DEFAULT '',
    ADD COLUMN verdict    TEXT NOT NULL DEFAULT '',
    ADD COLUMN base_ref   TEXT NOT NULL DEFAULT '',
    ADD COLUMN asked      TEXT NOT NULL DEFAULT '',
    ADD COLUMN asking     TEXT NOT NULL DEFAULT '';
-- A check's digest was "CONCLUSION DIGEST", after "sending " while it was being sent.
UPDATE writes SET sending = substr(digest, 9), digest = '' WHERE kind = 'check' AND digest LIKE 'sending %';
UPDATE writes SET conclusion = substr(sending, 1, strpos(sending, ' ') - 1), sending = substr(sending, strpos(sending, ' ') + 1)
    WHERE kind = 'check' AND strpos(sending, ' ') > 0;
UPDATE writes SET conclusion = substr(digest, 1, strpos(digest, ' ') - 1), digest = substr(digest, strpos(digest, ' ') + 1)
    WHERE kind = 'check' AND strpos(digest, ' ') > 0;
-- A review's was "VERDICT BRANCH".
UPDATE writes SET verdict = substr(digest, 1, strpos(digest, ' ') - 1), base_ref = substr(digest, strpos(digest, ' ') + 1), digest = ''
    WHERE kind = 'review' AND strpos(digest, ' ') > 0;
-- That of requests was "ASKED ASKED +ASKING +ASKING".
UPDATE writes SET asked = rtrim(substr(digest, 1, strpos(digest || '+', '+') - 1)),
    asking = replace(substr(digest, strpos(digest || '+', '+') + 1), ' +', ' '), digest = '' WHERE kind = 'requests';

-- The generation that could not even be given up when its time was over, and how many
-- attempts at it had failed then. This was a result in words.
ALTER TABLE targets
    ADD COLUMN overdue_generation BIGINT NOT NULL DEFAULT 0,
    ADD COLUMN overdue_attempts   BIGINT NOT NULL DEFAULT 0;
UPDATE targets SET overdue_generation = CAST(split_part(result, ' ', 4) AS BIGINT),
    overdue_attempts = CAST(split_part(result, ' ', 7) AS BIGINT), result = ''
    WHERE result LIKE 'giving up generation % since attempt %';

-- The branch whose config a target has, empty for the default branch. This was the source
-- of a config layer.
ALTER TABLE targets ADD COLUMN config_branch TEXT NOT NULL DEFAULT '';
UPDATE targets SET config_branch = coalesce((SELECT g.source FROM good_layers g WHERE g.repo_id = targets.repo_id AND g.layer = 'branch of ' || targets.key), '');

-- The full names under which a repository was seen, in lower case, the first one first.
-- These were the source of a config layer, separated by blanks.
CREATE TABLE repository_names (
    repo_id  BIGINT NOT NULL,
    name     TEXT   NOT NULL,
    position BIGINT NOT NULL,
    PRIMARY KEY (repo_id, name)
);
INSERT INTO repository_names (repo_id, name, position)
    SELECT g.repo_id, n.name, n.position FROM good_layers g, unnest(string_to_array(g.source, ' ')) WITH ORDINALITY AS n (name, position)
    WHERE g.layer = 'names' AND n.name <> '';
DELETE FROM good_layers WHERE layer = 'names' OR layer LIKE 'branch of %';

-- A head whose pull request got another base branch is no push. Its base branches were in
-- place of the head before.
ALTER TABLE pushes
    ADD COLUMN retargeted BIGINT NOT NULL DEFAULT 0,
    ADD COLUMN from_base  TEXT   NOT NULL DEFAULT '',
    ADD COLUMN to_base    TEXT   NOT NULL DEFAULT '',
    DROP CONSTRAINT pushes_pkey,
    ADD PRIMARY KEY (target_key, head_sha, before_sha, sender, retargeted, from_base, to_base);
UPDATE pushes SET retargeted = 1, from_base = substr(before_sha, 1, strpos(before_sha, ' ') - 1), to_base = substr(before_sha, strpos(before_sha, ' ') + 1), before_sha = ''
    WHERE strpos(before_sha, ' ') > 0;

-- +goose Down
UPDATE pushes SET before_sha = from_base || ' ' || to_base WHERE retargeted = 1;
ALTER TABLE pushes
    DROP CONSTRAINT pushes_pkey,
    DROP COLUMN retargeted,
    DROP COLUMN from_base,
    DROP COLUMN to_base,
    ADD PRIMARY KEY (target_key, head_sha, before_sha, sender);

INSERT INTO good_layers (repo_id, layer, source)
    SELECT repo_id, 'names', string_agg(name, ' ' ORDER BY position) FROM repository_names GROUP BY repo_id;
DROP TABLE repository_names;

INSERT INTO good_layers (repo_id, layer, source) SELECT repo_id, 'branch of ' || key, config_branch FROM targets WHERE config_branch <> '';
ALTER TABLE targets DROP COLUMN config_branch;

UPDATE targets SET result = 'giving up generation ' || overdue_generation || ' since attempt ' || overdue_attempts WHERE overdue_generation > 0;
ALTER TABLE targets
    DROP COLUMN overdue_attempts,
    DROP COLUMN overdue_generation;

UPDATE writes SET digest = CASE
    WHEN sending <> '' THEN 'sending ' || conclusion || ' ' || sending
    WHEN conclusion <> '' THEN conclusion || ' ' || digest
    WHEN verdict <> '' THEN verdict || ' ' || base_ref
    WHEN asking <> '' THEN ltrim(asked || ' +' || replace(asking, ' ', ' +'))
    WHEN asked <> '' THEN asked
    ELSE digest END;
ALTER TABLE writes
    DROP COLUMN asking,
    DROP COLUMN asked,
    DROP COLUMN base_ref,
    DROP COLUMN verdict,
    DROP COLUMN sending,
    DROP COLUMN conclusion;
