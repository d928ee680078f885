package ports

import (
	"time"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/learning"
)

// Effect is what a command changes, in addition to asking for a review. All of it is stored
// in the transaction that marks the command as accepted, with an entry in the audit log.
// The zero value changes nothing.
type Effect struct {
	Dismiss []pipeline.Dismissal  // by fingerprint; replaces earlier ones
	Accept  []pipeline.Acceptance // likewise; an acceptance and a dismissal of one fingerprint replace each other
	Restore []string              // fingerprints that are no longer dismissed or accepted
	// ByHand is a decision instead of the gate's for HeadSHA against BaseRef. It replaces
	// an earlier one for the same head and base.
	ByHand  *pipeline.HandDecision
	HeadSHA string
	BaseRef string
	// Resume lets an escalated fix loop continue.
	Resume bool
	// ResumeSession lets the agents of a paused session continue, or is nil. It ends only the pauses that
	// the person saw.
	ResumeSession *pipeline.SessionResume
	// Event is the event that the command reports in the session of its target, or nil. SessionSettings
	// apply to it. If too many events wait, or the target is closed, the event changes nothing.
	Event           *SessionEvent
	SessionSettings SessionSettings
	// Memory are changes to the records of the repository.
	Memory []MemoryChange
	Audit  *AuditEntry
	// Entry is what the command adds to the log of its target, or nil.
	Entry  *learning.Entry
	Notice string // the answer to write in the comment; empty for no answer
}

// AuditEntry is an entry of the append-only log of people's decisions.
type AuditEntry struct {
	At      time.Time
	RepoID  int64
	Key     string // of the target
	HeadSHA string
	Actor   string // login
	Action  string // the command's name
	Subject string // fingerprint, or empty
	Reason  string
	// AutoDecision is the decision that would have been made without a person, if models
	// took part in the review: pipeline.AutoHuman if it was left to a person.
	AutoDecision pipeline.AutoDecision
}

// CommentPlace is the place of a comment. GitHub numbers the comments of each place
// separately.
type CommentPlace string

// The places.
const (
	PlaceConversation CommentPlace = "issue_comment"
	PlaceReview       CommentPlace = "review"         // the body of a review
	PlaceReviewLine   CommentPlace = "review_comment" // on a line, or a reply to one
)

// Command is a slash command in a comment.
type Command struct {
	Place     CommentPlace
	CommentID int64 // unique together with Place
	Target    Target
	Sender    string
	Author    string // of the pull request
	SenderID  int64  // of the account, 0 if the event does not have it
	AuthorID  int64  // likewise
	Name      string // "review" for the bare command, else its first word as typed
	Args      string // the rest of the line, at most MaxCommandArgs characters, secrets replaced
	// ReceivedAt is when the command arrived. If its delivery was lost and found later, it
	// is when the command was written.
	ReceivedAt time.Time
	// WrittenAt is when the command was written, by GitHub's clock; zero if the event does not say.
	// Of two commands about one finding, the one that was written later counts.
	WrittenAt time.Time
}

// SaidAt is when the command was written or, if that is unknown, when it arrived.
func (c Command) SaidAt() time.Time {
	if c.WrittenAt.IsZero() {
		return c.ReceivedAt
	}
	return c.WrittenAt
}

// CommandCount counts the commands on a target in a period of time.
type CommandCount struct {
	Obeyed     int
	TurnedDown int // refused or ignored
	BySender   int // by the sender of the given command, up to that command, with any outcome
}

// MaxCommandArgs is the maximum length of a command's stored text after its name, in
// characters. People read it as a reason.
const MaxCommandArgs = 500

// Names under which a person's review on GitHub is stored among commands. Such a review
// runs no command. It is recorded if it contradicts the review that the person saw. Nobody
// can type these names.
const (
	OpinionApproved = "github:approved"
	OpinionChanges  = "github:changes_requested"
)
