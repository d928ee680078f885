package ports

import "time"

// DeferredKind is the kind of a deferred item.
type DeferredKind string

// The kinds.
const (
	DeferredDebt DeferredKind = "debt" // a warning that was merged
	DeferredGap  DeferredKind = "gap"  // a concern that the config missed
	// DeferredProbation is a rule or an agent that people judge wrong too often. No merge adds it.
	DeferredProbation DeferredKind = "probation"
)

// DeferredState is the state of the issue about a deferred item.
type DeferredState string

// The states. An intended issue may or may not exist on GitHub, so it is looked for before
// it is created again.
const (
	DeferredWaiting  DeferredState = "waiting" // for room below the daily limit
	DeferredIntended DeferredState = "intended"
	DeferredOpen     DeferredState = "open"
	DeferredClosed   DeferredState = "closed" // by us, since it was resolved
	DeferredLeft     DeferredState = "left"   // somebody closed or deleted it, or GitHub rejected it: never changed again
)

// Deferred is something that was merged and must be fixed later, with the issue about it.
type Deferred struct {
	ID     int64
	RepoID int64
	Kind   DeferredKind
	Key    string // fingerprint, or a digest that identifies it
	State  DeferredState
	// Changed means that GitHub does not have the newest state yet.
	Changed bool
	Number  int    // of the issue, 0 for none
	Path    string // of the file, its current name
	// Subject is what a later merge is compared with. For debt it is a digest of the line.
	// For a gap it is the concern, or the agent that a model would have sent. If it is
	// empty, only the removal of the file resolves the item.
	Subject string
	Title   string // of the issue, rendered
	Body    string // likewise, without the counts
	Seen    int    // number of merged pull requests that had it
	Pulls   []int  // the last of these, newest last, at most MaxDeferredPulls
	// ResolvedIn is the pull request whose merge resolved the item, ResolvedOtherwise, or 0.
	ResolvedIn int
	Digest     string // of the text last written to GitHub
	IntendedAt time.Time
}

// ResolvedOtherwise says that an item was resolved, but not by a merge.
const ResolvedOtherwise = -1

// Limits of deferred items.
const (
	MaxDeferredPulls = 10   // named in an issue
	MaxDeferred      = 1000 // unresolved items of a repository; more are dropped
)

// DeferredNews holds the changes that a merge makes to the deferred items, or what changed otherwise.
type DeferredNews struct {
	RepoID int64
	Number int              // of the merged pull request; 0 if it was no merge
	Seen   []Deferred       // new, or again
	Gone   []int64          // resolved, by ID
	Moved  map[int64]string // paths that files were renamed to, by ID
}

// IssuesAsk asks to update a repository's issues: after the merge of the target, or, for a
// target without a number, because some issues had to wait.
type IssuesAsk struct {
	Target Target
}
