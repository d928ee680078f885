package pipeline

import (
	"slices"
	"time"
)

// Session is what a review reads about the session of a pull request: who was asked about the
// change, what they answered, and the session's state before. It is stored with the review, so that
// the four rules can be applied again.
type Session struct {
	// Cycle is the cycle that this review belongs to: the newest one, if reviewers were asked about
	// this head. It is nil otherwise, and then the session stays as it was.
	Cycle *SessionCycle `json:"cycle,omitempty"`
	// Asked are the remote reviewers that were asked about this head, sorted by reviewer. They include
	// those outside of sessions, which are asked about every head. The answers of language models are
	// in the review's results.
	Asked List[AskedReviewer] `json:"asked"`
	// Outdated are answers about an earlier head, or of an earlier cycle, that came too late. They
	// are shown, but decide nothing.
	Outdated List[AskedReviewer] `json:"outdated,omitempty"`
	// Targets are the agents whose work the newest cycle was about.
	Targets List[string] `json:"targets,omitempty"`
	// Before is the session's state before this review.
	Before SessionState `json:"before"`
	// Resumes is how often people have resumed the session so far. Resumed is the last time; nil
	// before the first.
	Resumes int            `json:"resumes,omitempty"`
	Resumed *SessionResume `json:"resumed,omitempty"`
}

// SessionResume is a person's decision that a paused session goes on. It ends only the pauses that the
// person saw.
type SessionResume struct {
	By         string        `json:"by"` // login
	Escalation *SessionPause `json:"escalation,omitempty"`
	Pause      *SessionPause `json:"pause,omitempty"`
	Answers    List[string]  `json:"answers,omitempty"` // see SessionState
}

// SessionCycle is one cycle of a session: what started it and what reviewers are told.
type SessionCycle struct {
	Number int `json:"number"` // from 1
	// Triggers are the kinds of event that started the cycle, each once, sorted.
	Triggers List[SessionTrigger] `json:"triggers"`
	// Events are the ids of the agents' events, as "agent/id", sorted.
	Events List[string] `json:"events,omitempty"`
	// Targets are the agents whose work is reviewed, sorted: those that have reported events. None of
	// them reviews the change.
	Targets List[string] `json:"targets"`
	// Context has what each target says about its work, by target.
	Context    List[SessionSummary] `json:"context"`
	Files      List[string]         `json:"files,omitempty"` // that the events name, sorted
	FocusAreas List[string]         `json:"focus_areas"`
	MaxWords   int                  `json:"max_words"` // of a reviewer's summary
	BegunAt    time.Time            `json:"begun_at"`
	// Deadline is when reviewers who have not answered count as missing. It is zero until reviewers
	// were asked.
	Deadline time.Time `json:"deadline,omitzero"`
}

// Fallback reports whether the time without events started the cycle. It has events only if an earlier
// cycle stalled.
func (c *SessionCycle) Fallback() bool { return slices.Contains(c.Triggers, TriggerFallback) }

// IsTarget reports whether an agent's own work is reviewed in the cycle.
func (c *SessionCycle) IsTarget(agent string) bool { return slices.Contains(c.Targets, agent) }

// SessionSummary is what an agent says about its work.
type SessionSummary struct {
	Agent string `json:"agent"`
	Text  string `json:"text"` // without secrets
}

// SessionTrigger is what starts a cycle.
type SessionTrigger string

// The triggers: the three events of agents, a person's /review, and the time without events.
const (
	TriggerMilestone     SessionTrigger = "milestone"
	TriggerBlocker       SessionTrigger = "blocker"
	TriggerRequestReview SessionTrigger = "request_review"
	TriggerPerson        SessionTrigger = "review"
	TriggerFallback      SessionTrigger = "fallback"
)

// AskedState says whether a reviewer has answered.
type AskedState string

// The states. A missing reviewer gave no valid answer by the deadline, or can't give one.
const (
	AskedWaiting  AskedState = "waiting"
	AskedAnswered AskedState = "answered"
	AskedMissing  AskedState = "missing"
)

// AskedReviewer is a remote reviewer that was asked, and its answer.
type AskedReviewer struct {
	Reviewer string     `json:"reviewer"` // the agent's id
	State    AskedState `json:"state"`
	// Note says why there is no valid answer, if that is known.
	Note string `json:"note,omitempty"`
	// Session says that the answer is a verdict of the session, and not only findings.
	Session bool           `json:"session,omitempty"`
	Answer  *SessionAnswer `json:"answer,omitempty"` // set if the state is AskedAnswered
	Late    bool           `json:"late,omitempty"`   // the answer came after the deadline
	HeadSHA string         `json:"head_sha"`
	Cycle   int            `json:"cycle,omitempty"`
	// Deadline is when the reviewer counts as missing.
	Deadline time.Time `json:"deadline,omitzero"`
}

// Of returns what is known about a remote reviewer that was asked about the head, or nil.
func (s *Session) Of(reviewer string) *AskedReviewer {
	if s == nil {
		return nil
	}
	for i := range s.Asked {
		if s.Asked[i].Reviewer == reviewer {
			return &s.Asked[i]
		}
	}
	return nil
}

// SessionAnswer is a reviewer's valid answer, without secrets.
type SessionAnswer struct {
	Verdict SessionVerdict     `json:"verdict"`
	Summary string             `json:"summary"`
	Issues  List[SessionIssue] `json:"issues"`
	At      time.Time          `json:"at"` // when it arrived
}

// SessionVerdict is a reviewer's answer in one word.
type SessionVerdict string

// These are all the verdicts.
const (
	SessionApproved SessionVerdict = "approved"
	SessionConcerns SessionVerdict = "concerns"
	SessionBlocker  SessionVerdict = "blocker"
)

// SessionIssue is an issue that a reviewer found. File is empty if it is not about a single file.
type SessionIssue struct {
	Severity    Severity `json:"severity"`
	Description string   `json:"description"`
	File        string   `json:"file,omitempty"`
	Line        int      `json:"line,omitempty"` // at the head, from 1; 0 for the whole file
}

// SessionState is the state of a session after a decision. It is the zero value before the first.
type SessionState struct {
	// Cycle is the cycle of the last decision, or 0 before the first. HeadSHA is the head that the
	// decision was about.
	Cycle   int    `json:"cycle,omitempty"`
	HeadSHA string `json:"head_sha,omitempty"`
	// Rule is the rule of the last decision, 0 to 4. It means nothing if Cycle is 0.
	Rule int `json:"rule"`
	// Escalation is set while rule 1 pauses the session. Only a person ends it.
	Escalation *SessionPause `json:"escalation,omitempty"`
	// Pause is set while rule 0 or 2 pauses the session.
	Pause *SessionPause `json:"pause,omitempty"`
	// Concerns are the open concerns, one for each reviewer, by reviewer. A concern stays until its
	// reviewer approves.
	Concerns List[SessionConcern] `json:"concerns,omitempty"`
	// Answers are the answers that led to the last decision, each as the reviewer's name and the
	// verdict or "missing".
	Answers List[string] `json:"answers,omitempty"`
	// Settled are those of Answers that a person saw and resumed the session all the same. They don't
	// pause it again on their own.
	Settled List[string] `json:"settled,omitempty"`
	Resumes int          `json:"resumes,omitempty"` // how many are taken into account
}

// Paused reports whether the agents must wait.
func (s *SessionState) Paused() bool { return s.Escalation != nil || s.Pause != nil }

// Status returns PAUSED or RUNNING.
func (s *SessionState) Status() string {
	if s.Paused() {
		return SessionPaused
	}
	return SessionRunning
}

// The statuses of a session.
const (
	SessionPaused  = "PAUSED"
	SessionRunning = "RUNNING"
)

// SessionPause says why a session is paused.
type SessionPause struct {
	Cycle int `json:"cycle"` // that paused it
	Rule  int `json:"rule"`
	// Reviewers are those who paused it, sorted: by a blocker, by concerns, or because they did not
	// answer.
	Reviewers List[string] `json:"reviewers"`
	// Clarification is the prompt for the agents that must settle it; empty for rule 1.
	Clarification string `json:"clarification,omitempty"`
}

// SessionConcern is an open concern of a reviewer.
type SessionConcern struct {
	Reviewer string `json:"reviewer"`
	Cycle    int    `json:"cycle"`
	Summary  string `json:"summary"`
	Issues   int    `json:"issues"` // how many the reviewer named
}

// SessionReport is what a report says about the session.
type SessionReport struct {
	Status string `json:"status"` // SessionPaused or SessionRunning
	// Rule, Action and Flagged are those of the newest decision. Without a decision Rule is -1 and
	// Action empty.
	Rule    int    `json:"rule"`
	Action  string `json:"action"`
	Flagged bool   `json:"flagged"` // there are open concerns
	Cycle   int    `json:"cycle"`   // the newest one that is decided or awaits answers; 0 before the first
	// Decided says that this report decides the cycle.
	Decided bool `json:"decided"`
	// Reviewers are those who were asked about this head in the cycle, including models, by name. It
	// is empty if nobody was.
	Reviewers List[SessionReviewer] `json:"reviewers"`
	Waiting   List[string]          `json:"waiting"` // reviewers whose answers are awaited
	Deadline  time.Time             `json:"deadline,omitzero"`
	// Decides says that the pause alone keeps the change from being merged.
	Decides bool `json:"decides,omitempty"`
	// State is the session's state after this report.
	State    SessionState          `json:"state"`
	Outdated List[SessionReviewer] `json:"outdated,omitempty"`
	// ResumedBy is the person whose /review resume this report is the first to apply, or empty.
	ResumedBy string `json:"resumed_by,omitempty"`
}

// SessionReviewer is a reviewer's part in a cycle.
type SessionReviewer struct {
	Reviewer string         `json:"reviewer"`
	State    AskedState     `json:"state"`
	Verdict  SessionVerdict `json:"verdict,omitempty"`
	Summary  string         `json:"summary,omitempty"`
	Issues   int            `json:"issues"`
	Late     bool           `json:"late,omitempty"`
	Model    bool           `json:"model,omitempty"`    // its verdict follows from its findings
	HeadSHA  string         `json:"head_sha,omitempty"` // for outdated answers
	Note     string         `json:"note,omitempty"`
}
