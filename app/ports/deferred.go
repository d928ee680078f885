package ports

import "time"

// DeferredKind tells what is deferred.
type DeferredKind string

// The kinds.
const (
	DeferredDebt DeferredKind = "debt" // a warning that was merged
	DeferredGap  DeferredKind = "gap"  // a concern that the config missed
)

// DeferredState says how far the issue about something deferred has come.
type DeferredState string

// The states. An intended issue may or may not exist on GitHub, and is looked
// for before it is created again.
const (
	DeferredWaiting  DeferredState = "waiting" // for room below the daily limit
	DeferredIntended DeferredState = "intended"
	DeferredOpen     DeferredState = "open"
	DeferredClosed   DeferredState = "closed" // by us, since it was resolved
	DeferredLeft     DeferredState = "left"   // somebody closed or deleted it, or GitHub did not take it: never touched again
)

// Deferred is something that was merged and is to be seen to later, with the
// issue about it.
type Deferred struct {
	ID     int64
	RepoID int64
	Kind   DeferredKind
	Key    string // fingerprint, or what tells one gap from another
	State  DeferredState
	// Changed says that GitHub has not been told all of it.
	Changed bool
	Number  int    // of the issue, 0 for none
	Path    string // of the file, as it is called now
	// Subject is what a later merge is asked for: of debt a digest of the line, of
	// a gap the concern, or the agent that a model would have sent. Where it is empty only the file's removal resolves it.
	Subject string
	Title   string // of the issue, rendered
	Body    string // likewise, without what counts
	Seen    int    // in how many merged pull requests
	Pulls   []int  // the last of them, newest last, at most MaxDeferredPulls
	// ResolvedIn is the pull request at whose merge it was found resolved, or 0.
	ResolvedIn int
	Digest     string // of what was last written to GitHub
	IntendedAt time.Time
}

// Bounds of what is deferred.
const (
	MaxDeferredPulls = 10   // that are named
	MaxDeferred      = 1000 // of a repository that are not resolved; more are not taken in
)

// DeferredNews is what a merge brings.
type DeferredNews struct {
	RepoID int64
	Number int              // of the merged pull request
	Seen   []Deferred       // new, or again
	Gone   []int64          // resolved, by ID
	Moved  map[int64]string // paths that files were renamed to, by ID
}

// IssuesAsk asks to bring a repository's issues up to date: after the merge of
// the target, or for a target without a number where some had to wait.
type IssuesAsk struct {
	Target Target
}
