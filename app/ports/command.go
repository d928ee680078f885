package ports

import (
	"time"

	"github.com/reviewgate/reviewgate/pipeline"
)

// Effect is what a command changes, besides asking for a review. All of it is
// stored in the transaction that marks the command as accepted, with an entry in
// the audit log. The zero value changes nothing.
type Effect struct {
	Dismiss []pipeline.Dismissal  // by fingerprint; replaces what was there
	Accept  []pipeline.Acceptance // likewise; ends a dismissal of the same fingerprint, as that ends it
	Restore []string              // fingerprints that are neither dismissed nor accepted any more
	// ByHand decides in the gate's place for HeadSHA against BaseRef, in the
	// place of an earlier decision for them.
	ByHand  *pipeline.HandDecision
	HeadSHA string
	BaseRef string
	// Resume lets an escalated fix loop continue.
	Resume bool
	Audit  *AuditEntry
	Notice string // to be said in the comment, in answer; empty for none
}

// AuditEntry is a line of the append-only log of what people decided.
type AuditEntry struct {
	At      time.Time
	RepoID  int64
	Key     string // of the target
	HeadSHA string
	Actor   string // login
	Action  string // the command's name
	Subject string // fingerprint, or empty
	Reason  string
	// AutoDecision is what would have been decided without a person, where models
	// took part in what was decided about by hand: pipeline.AutoHuman if that was
	// left to a person.
	AutoDecision pipeline.AutoDecision
}

// CommentPlace tells where a comment stands. GitHub numbers those of each place
// for themselves.
type CommentPlace string

// The places.
const (
	PlaceConversation CommentPlace = "issue_comment"
	PlaceReview       CommentPlace = "review"         // the words of a review
	PlaceReviewLine   CommentPlace = "review_comment" // on a line, or a reply to one
)

// Command is a slash command in a comment.
type Command struct {
	Place     CommentPlace
	CommentID int64 // with Place, what tells it from all others
	Target    Target
	Sender    string
	Author    string // of the pull request
	SenderID  int64  // of the account, 0 where the event did not tell
	AuthorID  int64  // likewise
	Name      string // "review" for the bare command, else its first word as typed
	Args      string // the rest of the line, at most MaxCommandArgs characters, secrets replaced
	// ReceivedAt is when it came, or when it was said if that is long before: its
	// delivery was lost, and found later.
	ReceivedAt time.Time
}

// CommandCount is how many commands came on a target in a while.
type CommandCount struct {
	Obeyed     int
	TurnedDown int // refused, or not even answered
	BySender   int // by the sender of one command, up to that one and whatever became of them
}

// MaxCommandArgs bounds what is kept of a command after its name, in characters:
// a reason is read by people.
const MaxCommandArgs = 500

// What a person's review on GitHub says, as it is stored among commands: it commands nothing,
// and is noted where it contradicts the review that they looked at. Nobody can type them.
const (
	OpinionApproved = "github:approved"
	OpinionChanges  = "github:changes_requested"
)
