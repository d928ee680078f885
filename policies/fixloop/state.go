package fixloop

import (
	"strconv"

	"github.com/reviewgate/reviewgate/pipeline"
)

// Status is the kind of a state.
type Status string

// The four. Pending is the zero value.
const (
	Pending   Status = ""
	Fixing    Status = "review-fix"
	Escalated Status = "escalated"
	Complete  Status = "complete"
)

// State is where the fix loop of a pull request stands after a review. The zero
// value is that of one without any.
type State struct {
	Status  Status `json:"status,omitempty"`
	Attempt int    `json:"attempt,omitempty"` // the newest that was opened, from 1
	Max     int    `json:"max,omitempty"`     // attempts, as the settings were
	// Turns are the commits that were pushed within the attempt.
	Turns int `json:"turns,omitempty"`
	// Failed are the heads whose failing reports count, oldest first: one more
	// than there are attempts at most.
	Failed []string `json:"failed,omitzero"`
	// Since is the head whose report escalated it, empty if none did, and Cause
	// why. Both stay where the head is passed by hand.
	Since string `json:"since,omitempty"`
	Cause Cause  `json:"cause,omitempty"`
	// Now says that it was this very review that escalated it.
	Now bool `json:"now,omitempty"`
	// ByHand says that it is complete because somebody said so.
	ByHand bool `json:"by_hand,omitempty"`
	// Halted says that it was escalated, and that nobody has had it go on since. It
	// stays where a later head passes, or fails as if there had been no loop.
	Halted bool `json:"halted,omitempty"`
	// Resumes are how many times it was resumed, as far as the state knows.
	Resumes int `json:"resumes,omitempty"`
	// Seen are the commits that were seen, and how often at most; see [turns].
	Seen map[string]int `json:"seen,omitzero"`
	// History is a row for each head that was reviewed, oldest first, at most
	// MaxHistory. Earlier counts those before.
	History []Row `json:"history,omitzero"`
	Earlier int   `json:"earlier,omitempty"`
}

// Cause is why a pull request was escalated.
type Cause string

// The causes.
const (
	CauseAttempts Cause = "attempts" // the last attempt failed
	CauseTurns    Cause = "turns"    // too many commits in one attempt
)

// Row is what became of one head.
type Row struct {
	Attempt  int               `json:"attempt,omitempty"` // that it opened, 0 for none
	HeadSHA  string            `json:"head_sha"`
	Spec     pipeline.Verdict  `json:"spec,omitempty"` // of all models together
	Quality  pipeline.Verdict  `json:"quality,omitempty"`
	Decision pipeline.Decision `json:"decision"`
	Note     Note              `json:"note,omitempty"`
}

// Note is what else there is to say of a head.
type Note string

// The notes. The first three say why a report that fails opens no attempt.
const (
	NoteIncomplete Note = "incomplete"
	NoteNoModels   Note = "no models" // took part, where only they count
	NoteDraft      Note = "draft"
	NoteAgain      Note = "again"     // the head has counted before
	NoteEscalated  Note = "escalated" // its report escalated it, or came while it was
	NoteByHand     Note = "by hand"   // a person passed it
	NoteResumed    Note = "resumed"   // the count began anew with it
)

// MaxHistory is how many rows a state keeps.
const MaxHistory = 30

// Name is the state in words: pending, review-fix-1 and so on, escalated or
// complete.
func (s *State) Name() string {
	switch s.Status {
	case Pending:
		return "pending"
	case Fixing:
		return string(Fixing) + "-" + strconv.Itoa(s.Attempt)
	}
	return string(s.Status)
}

// Paused reports whether the pull request waits for a person to resume, who did
// so as many times.
func (s *State) Paused(resumes int) bool { return s.Halted && resumes <= s.Resumes }

// Begun reports whether any attempt was ever opened: else there is nothing to
// tell of.
func (s *State) Begun() bool { return len(s.Failed) > 0 }

// Last is the row of the newest review, or nil.
func (s *State) Last() *Row {
	if len(s.History) == 0 {
		return nil
	}
	return &s.History[len(s.History)-1]
}
