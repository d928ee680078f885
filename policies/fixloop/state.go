package fixloop

import (
	"strconv"

	"github.com/reviewgate/reviewgate/pipeline"
)

// Status is the kind of a state.
type Status string

// These are the four statuses. Pending is the zero value.
const (
	Pending   Status = ""
	Fixing    Status = "review-fix"
	Escalated Status = "escalated"
	Complete  Status = "complete"
)

// State is the state of a pull request's fix loop after a review. The zero value is the state
// before any review.
type State struct {
	Status  Status `json:"status,omitempty"`
	Attempt int    `json:"attempt,omitempty"` // the newest open attempt, from 1
	Max     int    `json:"max,omitempty"`     // the number of attempts in the settings at that time
	// Turns counts the commits that were pushed during the attempt.
	Turns int `json:"turns,omitempty"`
	// Failed lists the heads whose failing reports count, oldest first. There is at most one more
	// than there are attempts.
	Failed []string `json:"failed,omitzero"`
	// Since is the head whose report escalated the pull request, or empty, and Cause is the reason.
	// Both stay if a person passes the head.
	Since string `json:"since,omitempty"`
	Cause Cause  `json:"cause,omitempty"`
	// JustEscalated says that the last review escalated the pull request.
	JustEscalated bool `json:"now,omitempty"`
	// ByHand says that a person completed the loop.
	ByHand bool `json:"by_hand,omitempty"`
	// Halted says that the pull request was escalated and that nobody has resumed the loop since.
	// It stays if a later head passes, or fails as if there had been no loop.
	Halted bool `json:"halted,omitempty"`
	// Resumes is the number of times that the loop was resumed, as far as the state knows.
	Resumes int `json:"resumes,omitempty"`
	// Seen has the commits that were seen, each with the greatest number of times; see [turns].
	Seen map[string]int `json:"seen,omitzero"`
	// History has a row for each reviewed head, oldest first, at most MaxHistory. Earlier counts
	// the rows before those.
	History []Row `json:"history,omitzero"`
	Earlier int   `json:"earlier,omitempty"`
}

// Cause is the reason why a pull request was escalated.
type Cause string

// These are the causes.
const (
	CauseAttempts Cause = "attempts" // the last attempt failed
	CauseTurns    Cause = "turns"    // too many commits in one attempt
)

// Row describes the review of one head.
type Row struct {
	Attempt  int               `json:"attempt,omitempty"` // the attempt that it opened, or 0
	HeadSHA  string            `json:"head_sha"`
	Spec     pipeline.Verdict  `json:"spec,omitempty"` // the verdict of all models together
	Quality  pipeline.Verdict  `json:"quality,omitempty"`
	Decision pipeline.Decision `json:"decision"`
	Note     Note              `json:"note,omitempty"`
}

// Note adds something to the row of a head.
type Note string

// These are the notes. The first four say why a failing report opens no attempt.
const (
	NoteIncomplete Note = "incomplete"
	NotePaused     Note = "paused"    // only the session's pause keeps the head from passing
	NoteNoModels   Note = "no models" // no models took part, and only reports with models count
	NoteDraft      Note = "draft"
	NoteAgain      Note = "again"     // the head has counted before
	NoteEscalated  Note = "escalated" // its report escalated the pull request, or came after the escalation
	NoteByHand     Note = "by hand"   // a person passed the head
	NoteResumed    Note = "resumed"   // a new count began with it
)

// MaxHistory is the number of rows that a state keeps.
const MaxHistory = 30

// Name returns the state's name: pending, review-fix-1 and so on, escalated or complete.
func (s *State) Name() string {
	switch s.Status {
	case Pending:
		return "pending"
	case Fixing:
		return string(Fixing) + "-" + strconv.Itoa(s.Attempt)
	}
	return string(s.Status)
}

// Paused reports whether the pull request still waits for a person to resume the loop. resumes is
// the number of times that people have done so.
func (s *State) Paused(resumes int) bool { return s.Halted && resumes <= s.Resumes }

// Begun reports whether an attempt was ever opened. Otherwise there is nothing to report.
func (s *State) Begun() bool { return len(s.Failed) > 0 }

// Last returns the row of the newest review, or nil.
func (s *State) Last() *Row {
	if len(s.History) == 0 {
		return nil
	}
	return &s.History[len(s.History)-1]
}
