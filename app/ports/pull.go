package ports

import "time"

// OpenPull is an open pull request as a list shows it.
type OpenPull struct {
	Target
	BaseRef string
}

// LinkedIssue is an issue that the change refers to.
type LinkedIssue struct {
	Number      int
	Title, Body string
}

// Conversation says whether comments can be written on a pull request, and how many it has.
type Conversation struct {
	Comments int // number of issue comments, including ours
	OnLines  int // number of comments on lines, including ours
	Locked   bool
	Archived bool
}

// PullState is the state of a pull request that matters before a write.
type PullState struct {
	HeadSHA string
	BaseRef string
	Closed  bool
	Draft   bool
	// Merged says that it was closed by merging it, and ClosedAt when it was closed. UpdatedAt is
	// when it changed last. Both times are by GitHub's clock.
	Merged    bool
	ClosedAt  time.Time
	UpdatedAt time.Time
	// Requested are those asked to review: logins, and teams as "org/team-slug".
	Requested []string
	Conversation
}

// Comment is one of our comments as GitHub has it.
type Comment struct {
	ID   int64
	Body string
	URL  string
}

// Issue is one of our issues as GitHub has it.
type Issue struct {
	Number int
	Body   string
	Open   bool
}

// IssueWrite is an issue to open.
type IssueWrite struct {
	Title  string
	Body   string
	Labels []string
}

// ReviewVerdict is the verdict of a review, in GitHub's words.
type ReviewVerdict string

// Verdicts that are given without a person.
const (
	ReviewApprove ReviewVerdict = "APPROVE"
	ReviewReject  ReviewVerdict = "REQUEST_CHANGES"
)

// ReviewWrite is a review to submit.
type ReviewWrite struct {
	HeadSHA string
	Verdict ReviewVerdict
	Body    string
}

// PullReview is a review as GitHub has it.
type PullReview struct {
	ID        int64
	Author    string // login
	Bot       bool   // the author is an App
	Body      string
	Dismissed bool
}

// Remark is a person's comment.
type Remark struct {
	ID     int64
	Author string // login
	Body   string
}
