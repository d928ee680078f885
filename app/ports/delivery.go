package ports

import (
	"time"
)

// Push says who sent a head of a pull request, according to GitHub's event. The commits
// name their authors themselves, which anybody may forge.
type Push struct {
	Target Target
	// Before is the head that was replaced; empty for the head with which the pull
	// request was opened.
	Before   string
	Sender   string // login of a person
	SenderID int64  // of the account, 0 where it is not known
	// Retargeted tells that nobody pushed: the head was to go into the branch FromBase, and
	// now goes into ToBase; both are empty where they are not known. What FromBase held is a
	// part of the change from then on, and nobody saw who pushed it.
	Retargeted       bool
	FromBase, ToBase string
}

// Delivery is one webhook delivery and what it asks for. One without asks is recorded as
// a no-op.
type Delivery struct {
	GUID         string
	Event        string
	Action       string
	Installation int64
	RepoID       int64
	ReceivedAt   time.Time
	Asks         []Ask
}

// Ask is one thing that a delivery asks for. ReviewAsk, Close, Push, Command and
// ScanNews implement it, and the types with a Job method.
type Ask interface{ isAsk() }

// JobAsk is an ask for a job that carries all of it.
type JobAsk interface {
	Ask
	// Job is the job for the ask of the delivery with this GUID.
	Job(delivery string) Job
}

func (ReviewAsk) isAsk() {}
func (Close) isAsk()     {}
func (Push) isAsk()      {}
func (Command) isAsk()   {}
func (ScanNews) isAsk()  {}

// Close says that a pull request was closed, or that a merge group is gone.
type Close struct {
	Target Target
	Merged bool
}

// Holding is what is stored of one repository. Its names are empty where only
// its id is known.
type Holding struct {
	Repository Target   // without a number and a head
	Keys       []string // of its targets that are to be forgotten
}

// ReviewAsk asks for a review of the target as it is when the review runs.
type ReviewAsk struct {
	Target Target
	Reason string // in words, such as "opened" or "pushed"
	// LabelsOnly says that only labels changed: the ask counts only if the
	// target's last review read labels, or read the type from them and TypeLabel
	// says that this is one of those.
	LabelsOnly bool
	TypeLabel  bool
	// At is when the event that asks happened by GitHub's clock, in whole
	// seconds; zero for what was read from GitHub now. Old news moves no head.
	// Of news from one second that with the Before of the head that is known is
	// the newer.
	At     time.Time
	Before string // head that the event replaced, if it tells
	// Once names the ask where it may be made again after a crash: it counts
	// the first time.
	Once string
	// Asked, if set, is the generation that had been asked for when the target was
	// found to need a review, 0 for one that was not known: where somebody has
	// asked since, this ask is needless.
	Asked *int64
	// Fresh demands a new check run even where nothing seems to have changed:
	// the old one must not stand while the review runs.
	Fresh bool
	// Author is the id of the account that opened the pull request, 0 if the ask does
	// not know it. Each author has a share of the queue while others wait.
	Author int64
	// Low lets other work go first: nobody waits for this review.
	Low bool
	// Rerun says how much is done anew. Of several asks that one review answers,
	// all are met, and so is that of the last one if it was given up.
	Rerun Rerun
	// AtOnce ends the wait of a quarantined target.
	AtOnce bool
	// ByHand says that somebody decided in the gate's place: what was given up
	// need not be done for it.
	ByHand bool
}

// Accepted says what became of a delivery.
type Accepted struct {
	Duplicate bool   // seen before, and nothing was given up since
	NoOp      bool   // asks for nothing
	Key       string // of the target whose generation was raised or that was closed, if any
	HeadMoved bool   // the ask names another head than the newest known before
	Closed    bool   // a known target was closed
}
