-- Sessions of coding agents, the agents' events and tokens, and requests to remote reviewers.

-- +goose Up
CREATE TABLE sessions (
    target_key  TEXT PRIMARY KEY,
    cycle       TEXT    NOT NULL, -- the newest one: pipeline.SessionCycle, JSON; empty before the first
    running     BIGINT  NOT NULL, -- 1: the cycle is not decided
    stalled     BIGINT  NOT NULL, -- 1: no pending review can decide the running cycle
    head_sha    TEXT    NOT NULL, -- that reviewers were asked about in the cycle
    state       TEXT    NOT NULL, -- pipeline.SessionState, JSON; empty before the first decision
    resumes     BIGINT  NOT NULL,
    resumed     TEXT    NOT NULL, -- the last time: pipeline.SessionResume, JSON; empty before the first
    spoke_at    BIGINT  NOT NULL, -- when an agent last reported
    gather_at   BIGINT  NOT NULL, -- when the next cycle begins
    deadline_at BIGINT  NOT NULL, -- the earliest deadline of the open requests that matter
    fallback_at BIGINT  NOT NULL, -- when the fallback cycle begins
    due_at      BIGINT  NOT NULL, -- the first of these three that counts now
    focus_areas TEXT    NOT NULL, -- of the settings, JSON
    max_words   BIGINT  NOT NULL  -- of the settings
);
CREATE INDEX sessions_due ON sessions (due_at) WHERE due_at > 0;

CREATE TABLE session_events (
    id         BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- in the order in which they came
    repo_id    BIGINT  NOT NULL,
    agent      TEXT    NOT NULL, -- empty for a person
    event_id   TEXT    NOT NULL,
    target_key TEXT    NOT NULL,
    cycle      BIGINT  NOT NULL, -- 0 while the event waits for one
    body       TEXT    NOT NULL, -- ports.SessionEvent, JSON
    at         BIGINT  NOT NULL,
    UNIQUE (repo_id, agent, event_id)
);
CREATE INDEX session_events_target ON session_events (target_key, cycle);
CREATE INDEX session_events_at ON session_events (at);

CREATE TABLE session_requests (
    id         TEXT PRIMARY KEY,
    kind       TEXT    NOT NULL,
    target_key TEXT    NOT NULL,
    cycle      BIGINT  NOT NULL, -- 0: outside of sessions
    head_sha   TEXT    NOT NULL,
    agent      TEXT    NOT NULL,
    body       BYTEA   NOT NULL,
    verdict    BIGINT  NOT NULL, -- 1: the answer is a verdict of the session
    asked_at   BIGINT  NOT NULL,
    deadline   BIGINT  NOT NULL,
    state      TEXT    NOT NULL,
    note       TEXT    NOT NULL DEFAULT '',
    answer     TEXT    NOT NULL DEFAULT '', -- pipeline.SessionAnswer, JSON
    digest     TEXT    NOT NULL DEFAULT '', -- of the answer as it arrived
    signature  TEXT    NOT NULL DEFAULT '', -- of the answer
    late       BIGINT  NOT NULL DEFAULT 0, -- the answer came after the deadline
    outdated   BIGINT  NOT NULL DEFAULT 0 -- the answer came when another head or cycle was current
);
-- A reviewer is asked once in each cycle about each head. Other requests may differ from each other.
CREATE UNIQUE INDEX session_requests_review ON session_requests (target_key, cycle, head_sha, agent) WHERE kind = 'review_request';
CREATE INDEX session_requests_target ON session_requests (target_key);
CREATE UNIQUE INDEX session_requests_signature ON session_requests (signature) WHERE signature <> '';
CREATE INDEX session_requests_asked ON session_requests (asked_at);

-- Tokens of agents for the API.
CREATE TABLE api_tokens (
    id           BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    hash         BYTEA   NOT NULL UNIQUE,
    repo_id      BIGINT  NOT NULL,
    installation BIGINT  NOT NULL,
    owner        TEXT    NOT NULL,
    name         TEXT    NOT NULL,
    agent        TEXT    NOT NULL,
    created_at   BIGINT  NOT NULL,
    expires_at   BIGINT  NOT NULL,
    revoked_at   BIGINT  NOT NULL DEFAULT 0,
    used_at      BIGINT  NOT NULL DEFAULT 0 -- to the hour
);
CREATE INDEX api_tokens_repository ON api_tokens (repo_id);

-- What a review changes in its session when it is published: ports.SessionOutcome, JSON; empty if nothing.
ALTER TABLE reviews ADD COLUMN session TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE reviews DROP COLUMN session;
DROP TABLE api_tokens;
DROP TABLE session_requests;
DROP TABLE session_events;
DROP TABLE sessions;
