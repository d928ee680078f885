package ports

// OpenPull is an open pull request as a list shows it.
type OpenPull struct {
	Target
	BaseRef string
}

// LinkedIssue is what somebody asked for.
type LinkedIssue struct {
	Number      int
	Title, Body string
}

// Conversation tells what can be said on a pull request.
type Conversation struct {
	Comments int // issue comments there, ours among them
	Locked   bool
	Archived bool
}

// PullState is what matters of a pull request before it is written to.
type PullState struct {
	HeadSHA string
	BaseRef string
	Closed  bool
	Draft   bool
	// Requested are who is asked to review: logins, and teams as "org/team-slug".
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

// ReviewVerdict is what a review says, in GitHub's words.
type ReviewVerdict string

// The verdicts that are given without a person.
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
