package ports

import "context"

// InlineState is the last known state of our comment on a line.
type InlineState string

// The states of a comment on a line. An intended one may or may not be on GitHub, so it is
// looked for before it is written again.
const (
	InlineIntended  InlineState = "intended"
	InlineOpen      InlineState = "open"      // it shows its finding
	InlineFixed     InlineState = "fixed"     // it says where the finding was fixed
	InlineDismissed InlineState = "dismissed" // it says who dismissed the finding, or what suppressed it
	InlineRefused   InlineState = "refused"   // it is not on GitHub, and is not written again
)

// InlineComment is our comment on a line, about one finding.
type InlineComment struct {
	Fingerprint string // of the finding
	RunID       string // of the review that it was written with; empty if it was found on GitHub
	State       InlineState
	RemoteID    int64 // as in links; 0 while it is not known
	// Unpublished means that the review of RunID was not published, because a push came first
	// or it is yet to be published. Later reports don't know its findings. SaveInline ignores
	// it.
	Unpublished bool
	// NodeID and ThreadID are those of GitHub's GraphQL API, empty while they are not known.
	NodeID, ThreadID string
}

// Shown reports whether the comment is on GitHub.
func (c *InlineComment) Shown() bool {
	return c.State == InlineOpen || c.State == InlineFixed || c.State == InlineDismissed
}

// LineComments keeps our comments on lines.
type LineComments interface {
	// InlineComments lists the comments of a target, by fingerprint.
	InlineComments(ctx context.Context, key string) ([]InlineComment, error)
	// SaveInline stores comments of the target whose lease is held, in the place of those with
	// the same fingerprints.
	SaveInline(ctx context.Context, l Lease, all []InlineComment) error
}

// InlineWrite is a comment to write on lines of the diff, from StartLine to EndLine at the
// head.
type InlineWrite struct {
	Path               string
	StartLine, EndLine int
	Body               string
}

// InlineEdit is a comment to write again. Its thread is resolved, or opened again.
type InlineEdit struct {
	NodeID, ThreadID string
	Body             string
	Resolved         bool
}

// InlineThread is a thread that our App began.
type InlineThread struct {
	ThreadID, NodeID string
	RemoteID         int64
	Body             string // of the first comment
}

// InlineEdited says what became of edits.
type InlineEdited struct {
	Gone    []string // the NodeIDs of comments that GitHub doesn't have, or doesn't let us edit
	Threads []InlineThread
}

// MaxInlineEdits bounds the comments that one call edits, because GitHub gives a call 10 seconds.
const MaxInlineEdits = 50

// InlineWriter writes our comments on lines of the diff.
type InlineWriter interface {
	// CreateInline submits one review of a head with all of these comments, which neither
	// approves nor requests changes. GitHub takes all of them or none.
	CreateInline(ctx context.Context, t Target, headSHA string, all []InlineWrite) error
	// EditInline edits at most MaxInlineEdits comments in one call. A thread that GitHub doesn't let the App
	// resolve stays as it is. With list it also returns those of the pull request's newest 100
	// threads that our App began.
	EditInline(ctx context.Context, t Target, edits []InlineEdit, list bool) (InlineEdited, error)
	// InlineThreads lists the threads that our App began.
	InlineThreads(ctx context.Context, t Target) ([]InlineThread, error)
}
