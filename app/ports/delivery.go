package ports

import (
	"time"
)

// Push says who sent a head of a pull request, according to GitHub's event. The authors in
// the commits don't count, because anybody can forge them.
type Push struct {
	Target Target
	// Before is the head that was replaced; empty for the head with which the pull
	// request was opened.
	Before   string
	Sender   string // login of a person
	SenderID int64  // of the account, 0 if unknown
	// Retargeted means that nobody pushed: the pull request's base changed from FromBase to
	// ToBase, which are empty if unknown. What was in FromBase is part of the change from
	// then on, and nobody saw who pushed it.
	Retargeted       bool
	FromBase, ToBase string
}

// Delivery is one webhook delivery and what it asks for. A delivery without asks is
// recorded as a no-op.
type Delivery struct {
	GUID         string
	Event        string
	Action       string
	Installation int64
	RepoID       int64
	ReceivedAt   time.Time
	// About is what the delivery is about, for the log: a pull request, a merge group, or a
	// repository alone. It is the zero value if the payload does not say.
	About Target
	Asks  []Ask
}

// Ask is one thing that a delivery asks for. ReviewAsk, Close, Push, Command and
// ScanNews implement it, and the types with a Job method.
type Ask interface{ isAsk() }

// JobAsk is an ask that becomes a job with the ask in its args.
type JobAsk interface {
	Ask
	// Job returns the job for the ask. delivery is the GUID of the delivery.
	Job(delivery string) Job
}

// Close says that a pull request was closed, or that a merge group is gone.
type Close struct {
	Target Target
	Merged bool
	At     time.Time // by GitHub's clock; zero if unknown
}

// ReviewAsk asks for a review of the target in its state at the time of the review.
type ReviewAsk struct {
	Target Target
	Reason string // in words, such as "opened" or "pushed"
	// LabelsOnly means that only labels changed. The ask counts only if the target's last
	// review read labels. If that review read only the type from them, TypeLabel must be
	// set, which says that one of the type's labels changed.
	LabelsOnly bool
	TypeLabel  bool
	// At is when the event happened by GitHub's clock, in whole seconds. It is zero for
	// what was read from GitHub just now. An older event does not change the head. If two
	// events have the same second, the newer one is the one whose Before is the known head.
	At     time.Time
	Before string // head that the event replaced, if it tells
	// ReopenedAt is when the pull request was opened again, by GitHub's clock. It is zero if the
	// ask is about anything else.
	ReopenedAt time.Time
	// Once identifies an ask that may be repeated after a crash. Only the first one counts.
	Once string
	// Asked, if set, is the wanted generation at the time when the target was found to need
	// a review, 0 for an unknown target. If somebody has asked since, this ask is ignored.
	Asked *int64
	// Fresh demands a new check run even if nothing seems to have changed: the old one must
	// not stay green while the review runs.
	Fresh bool
	// Author is the ID of the account that opened the pull request, 0 if unknown. Each
	// author has a share of the queue while others wait.
	Author int64
	// Low lets other work go first: nobody waits for this review.
	Low bool
	// Rerun is how much the review does again. A review that answers several asks satisfies
	// them all, and those of the last review if it was given up.
	Rerun Rerun
	// AtOnce ends the wait of a quarantined target.
	AtOnce bool
	// ByHand means that somebody decided instead of the gate. A review that was given up
	// need not run again for it.
	ByHand bool
}

func (ReviewAsk) isAsk() {}
func (Close) isAsk()     {}
func (Push) isAsk()      {}
func (Command) isAsk()   {}
func (ScanNews) isAsk()  {}

// Accepted is the result of accepting a delivery.
type Accepted struct {
	Duplicate bool   // seen before, and nothing was given up since
	NoOp      bool   // asks for nothing
	Key       string // of the target whose generation was raised or that was closed, if any
	HeadMoved bool   // the ask names another head than the newest known before
	Closed    bool   // a known target was closed
}

// HookAttempt is one attempt at a webhook delivery, as GitHub logged it.
type HookAttempt struct {
	ID           int64
	GUID         string
	Event        string
	Action       string
	Status       int // of our answer, 0 if there was none
	At           time.Time
	Installation int64
	RepoID       int64
}

// Delivered reports whether our answer to the attempt was a success.
func (a HookAttempt) Delivered() bool { return a.Status >= 200 && a.Status < 300 }

// LostDelivery is a delivery that failed and has not arrived since.
type LostDelivery struct {
	HookAttempt     // the newest attempt, with the time of the first one
	Urgency     int // deliveries with a higher one are looked for sooner
	Looks       int // how many times it was looked for
}

// LogRead is what was read of the App's delivery log.
type LogRead struct {
	Lost []LostDelivery
	// Before is the oldest time from which GitHub redelivers. Older deliveries are dropped.
	Before time.Time
	UpTo   time.Time // how far the log was read
}
