package ports

// WriteKind is the kind of a write to GitHub.
type WriteKind string

// The kinds of write. Only one of each may exist, so the intent is stored before each
// create.
const (
	WriteCheck   WriteKind = "check"
	WriteComment WriteKind = "comment"
	// WriteReview is the newest review that was submitted without a person. At most one of
	// them is not dismissed.
	WriteReview WriteKind = "review"
	// WriteRequests records the requests for reviews on a head.
	WriteRequests WriteKind = "requests"
)

// WriteState is the last known state of a write.
type WriteState string

// The states of a write. An intended one may or may not exist on GitHub, so it is looked
// for before it is created again.
const (
	WriteIntended  WriteState = "intended"
	WriteOpen      WriteState = "open"
	WriteCompleted WriteState = "completed"
	WriteRefused   WriteState = "refused" // of a review: GitHub rejected it
	WriteStuck     WriteState = "stuck"   // of a review: GitHub refuses to dismiss it
)

// Write is something of ours on GitHub, or the intent to create it. Subject is
// "repoID/headSHA" for a check, and the key of the target for everything else. A review is
// completed when it is dismissed.
type Write struct {
	ID         int64
	Kind       WriteKind
	Subject    string
	Key        string // of the target whose run wrote it first
	HeadSHA    string // for all but a comment
	ExternalID string
	RemoteID   int64
	State      WriteState
	// Digest is of the last content of a check or a comment.
	Digest string

	// Conclusion is the conclusion of a check that is completed, or is being completed. In
	// the latter case Sending is the digest of what is being sent; part of it may already
	// be there.
	Conclusion string
	Sending    string

	// Verdict and BaseRef are those of a review.
	Verdict ReviewVerdict
	BaseRef string

	// Asked are the people whose reviews were requested. Asking are those in an intent that
	// has no outcome yet.
	Asked, Asking []string
}

// Stands reports whether there may be a review on GitHub that was not dismissed.
func (w *Write) Stands() bool {
	return w != nil && (w.State == WriteIntended || w.State == WriteOpen || w.State == WriteStuck)
}
