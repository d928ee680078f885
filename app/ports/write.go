package ports

// Stands reports whether there may be a review on GitHub that was not dismissed.
func (w *Write) Stands() bool {
	return w != nil && (w.State == WriteIntended || w.State == WriteOpen || w.State == WriteStuck)
}

// WriteKind tells what is written to GitHub.
type WriteKind string

// The things of which there may be only one, so that each create is preceded
// by a stored intent.
const (
	WriteCheck   WriteKind = "check"
	WriteComment WriteKind = "comment"
	// WriteReview is the newest review on GitHub that was decided without a person.
	// At most one of them stands.
	WriteReview WriteKind = "review"
	// WriteRequests is what was asked of people for a head.
	WriteRequests WriteKind = "requests"
)

// WriteState is how far a write is known to have come.
type WriteState string

// The states of a write. An intended one may or may not exist on GitHub, and
// is looked for before it is created again.
const (
	WriteIntended  WriteState = "intended"
	WriteOpen      WriteState = "open"
	WriteCompleted WriteState = "completed"
	WriteRefused   WriteState = "refused" // of a review: GitHub did not take it
	WriteStuck     WriteState = "stuck"   // of a review: GitHub does not let it be dismissed
)

// Write is something of ours on GitHub, or the intent to create it. Subject
// is "repoID/headSHA" for a check, and the key of the target for all else. A
// review is completed when it is dismissed.
type Write struct {
	ID         int64
	Kind       WriteKind
	Subject    string
	Key        string // of the target whose run wrote it first
	HeadSHA    string // for all but a comment
	ExternalID string
	RemoteID   int64
	State      WriteState
	// Digest is of what a check or a comment last said.
	Digest string

	// Conclusion is that of a check that is completed, or is being completed. Sending is
	// then the digest of what is being sent to it: some of it may be there.
	Conclusion string
	Sending    string

	// Verdict and BaseRef are those of a review.
	Verdict ReviewVerdict
	BaseRef string

	// Asked are the people whose reviews were requested, and Asking those of whom an
	// intent has no outcome yet.
	Asked, Asking []string
}
