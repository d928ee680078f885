package gh

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/reviewgate/reviewgate/app/ports"
)

// issueWriter implements ports.IssueWriter.
type issueWriter struct{ *api }

// maxIssuePages bounds the pages of issues and pull requests that are searched for our
// issues, newest first.
const maxIssuePages = 10

// clockSkew is how much GitHub's clock may differ from ours.
const clockSkew = 10 * time.Minute

// issue is an issue. go-github's type lacks the app that created it.
type issue struct {
	Number    int       `json:"number"`
	State     string    `json:"state"`
	Title     string    `json:"title"`
	Body      string    `json:"body"`
	CreatedAt time.Time `json:"created_at"`
	App       struct {
		ID int64 `json:"id"`
	} `json:"performed_via_github_app"`
	// Pull is not nil if this is a pull request: lists of issues contain both.
	Pull *struct{} `json:"pull_request"`
}

func (i *issue) whole() error { return wholeIf(i.isWhole()) }

func (i *issue) isWhole() bool {
	return i.Number > 0 && (i.State == "open" || i.State == "closed") && !i.CreatedAt.IsZero()
}

func (i *issue) ours(appID int64) bool { return i.Pull == nil && i.App.ID == appID }

// issueList is a page of issues and pull requests.
type issueList []issue

func (l *issueList) whole() error {
	return wholeList(*l, func(i issue) bool { return i.isWhole() })
}

// issueText is an issue to write. Empty fields stay unchanged.
type issueText struct {
	Title       string   `json:"title,omitempty"`
	Body        string   `json:"body,omitempty"`
	Labels      []string `json:"labels,omitempty"`
	State       string   `json:"state,omitempty"`
	StateReason string   `json:"state_reason,omitempty"`
}

// Issues lists the issues that our app created since then, newest first. It searches
// the newest 1,000 issues and pull requests. A filter by creator does not work: with
// it GitHub Enterprise Cloud has been seen to list none.
func (c issueWriter) Issues(ctx context.Context, t ports.Target, since time.Time) ([]ports.Issue, error) {
	r := request{
		op: "list the issues", method: http.MethodGet,
		path: "/repos/{owner}/{repo}/issues", args: []any{t.Owner, t.Name},
		query: url.Values{"state": {"all"}, "sort": {"created"}, "direction": {"desc"}},
	}
	if !since.IsZero() {
		since = since.Add(-clockSkew)
		r.query.Set("since", since.UTC().Format(time.RFC3339)) // GitHub compares the last change, which is never before the creation
	}
	var out []ports.Issue
	_, err := walk(ctx, c.api, t, r, maxIssuePages, func(page issueList) bool {
		for _, i := range page {
			if i.CreatedAt.Before(since) {
				return false
			}
			if i.ours(c.appID) {
				out = append(out, ports.Issue{Number: i.Number, Body: i.Body, Open: i.State == "open"})
			}
		}
		return true
	})
	return out, err
}

var errNotOurs = errors.New("the issue is not the App's")

// Issue reads an issue that our app created. For other issues the error is
// HostNotFound.
func (c issueWriter) Issue(ctx context.Context, t ports.Target, number int) (ports.Issue, error) {
	const op = "read the issue"
	var i issue
	_, err := c.do(ctx, t, request{
		op: op, method: http.MethodGet,
		path: "/repos/{owner}/{repo}/issues/{issue_number}", args: []any{t.Owner, t.Name, number},
	}, asJSON(&i))
	if err != nil {
		return ports.Issue{}, err
	}
	if !i.ours(c.appID) {
		return ports.Issue{}, &ports.HostError{Op: op, Kind: ports.HostNotFound, Status: http.StatusNotFound, Err: errNotOurs}
	}
	return ports.Issue{Number: i.Number, Body: i.Body, Open: i.State == "open"}, nil
}

// LinkedIssue reads an issue that a change closes. It does not read a transferred issue,
// because the issue's new repository may have other readers.
func (s *source) LinkedIssue(ctx context.Context, number int) (ports.LinkedIssue, error) {
	const op = "read a linked issue"
	var i issue
	_, err := s.client.do(ctx, s.target, request{
		op: op, method: http.MethodGet,
		path: "/repos/{owner}/{repo}/issues/{issue_number}", args: []any{s.target.Owner, s.target.Name, number}, budget: &s.budget,
		stays: true,
	}, asJSON(&i))
	switch {
	case err != nil:
		return ports.LinkedIssue{}, err
	case i.Pull != nil:
		return ports.LinkedIssue{}, &ports.HostError{Op: op, Kind: ports.HostNotFound, Status: http.StatusNotFound, Err: errNoIssue}
	}
	return ports.LinkedIssue{Number: i.Number, Title: i.Title, Body: i.Body}, nil
}

var errNoIssue = errors.New("it is a pull request")

// CreateIssue opens an issue.
func (c issueWriter) CreateIssue(ctx context.Context, t ports.Target, w ports.IssueWrite) (int, error) {
	var created issue
	_, err := c.do(ctx, t, request{
		op: "create the issue", method: http.MethodPost,
		path: "/repos/{owner}/{repo}/issues", args: []any{t.Owner, t.Name},
		body: issueText{Title: w.Title, Body: w.Body, Labels: w.Labels},
	}, asJSON(&created))
	return created.Number, err
}

// UpdateIssue rewrites an issue's body, and opens or closes the issue.
func (c issueWriter) UpdateIssue(ctx context.Context, t ports.Target, number int, body string, open bool) error {
	text := issueText{Body: body, State: "closed", StateReason: "completed"}
	if open {
		text = issueText{Body: body, State: "open"}
	}
	_, err := c.do(ctx, t, request{
		op: "update the issue", method: http.MethodPatch,
		path: "/repos/{owner}/{repo}/issues/{issue_number}", args: []any{t.Owner, t.Name, number}, body: text,
	}, ignored)
	return err
}
