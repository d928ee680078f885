package gh

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/reviewgate/reviewgate/app/ports"
)

// inlineWriter implements ports.InlineWriter.
//
// The comments are created by the REST API, in one request. The rest goes through GraphQL,
// because only GraphQL has threads, and because it takes many edits in one request.
type inlineWriter struct{ *api }

// CreateInline submits one review with all of the comments. It has no text of its own.
func (c inlineWriter) CreateInline(ctx context.Context, t ports.Target, headSHA string, all []ports.InlineWrite) error {
	type comment struct {
		Path      string `json:"path"`
		Body      string `json:"body"`
		Line      int    `json:"line"`
		Side      string `json:"side"`
		StartLine int    `json:"start_line,omitempty"`
		StartSide string `json:"start_side,omitempty"`
	}
	body := struct {
		CommitID string    `json:"commit_id"`
		Event    string    `json:"event"`
		Comments []comment `json:"comments"`
	}{CommitID: headSHA, Event: "COMMENT"}
	for _, w := range all {
		on := comment{Path: w.Path, Body: w.Body, Line: w.EndLine, Side: "RIGHT"}
		if w.StartLine < w.EndLine {
			on.StartLine, on.StartSide = w.StartLine, "RIGHT"
		}
		body.Comments = append(body.Comments, on)
	}
	var created pullReview
	_, err := c.do(ctx, t, request{
		op: "comment on lines", method: http.MethodPost,
		path: "/repos/{owner}/{repo}/pulls/{pull_number}/reviews", args: []any{t.Owner, t.Name, t.Number},
		body: body,
	}, asJSON(&created))
	return err
}

const (
	// maxThreadPages bounds the pages of threads of one pull request.
	maxThreadPages = 30
	// threadFields selects a page of threads, each with its first comment.
	threadFields = `{pageInfo{hasPreviousPage startCursor} nodes{id comments(first:1){nodes{id fullDatabaseId body viewerDidAuthor}}}}`
	queryThreads = `query($owner:String!,$name:String!,$number:Int!,$before:String){repository(owner:$owner,name:$name)` +
		`{pullRequest(number:$number){reviewThreads(last:100,before:$before)` + threadFields + `}}}`
)

// threadPage is a page of threads.
type threadPage struct {
	Threads *struct {
		PageInfo struct {
			HasPreviousPage bool
			StartCursor     string
		}
		Nodes []struct {
			ID       string
			Comments struct {
				Nodes []struct {
					ID              string
					FullDatabaseID  string `json:"fullDatabaseId"`
					Body            string
					ViewerDidAuthor bool
				}
			}
		}
	} `json:"reviewThreads"`
}

// ours returns the threads that our App began, in GitHub's order. GitHub itself vouches for
// the author.
func (p *threadPage) ours() (all []ports.InlineThread, err error) {
	if p.Threads == nil {
		return nil, errNotWhole
	}
	for _, n := range p.Threads.Nodes {
		for _, c := range n.Comments.Nodes {
			if !c.ViewerDidAuthor {
				continue
			}
			id, err := strconv.ParseInt(c.FullDatabaseID, 10, 64)
			if err != nil || id <= 0 || n.ID == "" || c.ID == "" {
				return nil, errNotWhole
			}
			all = append(all, ports.InlineThread{ThreadID: n.ID, NodeID: c.ID, RemoteID: id, Body: c.Body})
		}
	}
	return all, nil
}

// InlineThreads lists the threads of the pull request that our App began, oldest first. More
// than 3,000 threads are an error.
func (c inlineWriter) InlineThreads(ctx context.Context, t ports.Target) ([]ports.InlineThread, error) {
	return c.threads(ctx, t, maxThreadPages)
}

func (c inlineWriter) threads(ctx context.Context, t ports.Target, pages int) (all []ports.InlineThread, err error) {
	const op = "list the comments on lines"
	vars := map[string]any{"owner": t.Owner, "name": t.Name, "number": t.Number}
	for range pages {
		var data struct {
			Repository struct{ PullRequest threadPage }
		}
		problems, err := c.graphql(ctx, t, op, queryThreads, vars, &data)
		if err == nil && len(problems) > 0 {
			err = problems[0].hostError(op)
		}
		if err != nil {
			return nil, err
		}
		page := &data.Repository.PullRequest
		some, err := page.ours()
		if err != nil {
			return nil, hostError(op, err)
		}
		if all = append(some, all...); !page.Threads.PageInfo.HasPreviousPage {
			return all, nil
		}
		vars["before"] = page.Threads.PageInfo.StartCursor
	}
	if pages > 1 {
		return nil, &ports.HostError{Op: op, Kind: ports.HostInvalid, Err: fmt.Errorf("there are more than %d threads", maxThreadPages*100)}
	}
	return all, nil
}

// EditInline edits comments, and resolves their threads or opens them again. To resolve a
// thread, GitHub asks for the permission to write contents.
func (c inlineWriter) EditInline(ctx context.Context, t ports.Target, edits []ports.InlineEdit, list bool) (out ports.InlineEdited, err error) {
	if len(edits) == 0 {
		if list {
			out.Threads, err = c.threads(ctx, t, 1)
		}
		return out, err
	}
	const op = "edit the comments on lines"
	var declared, fields strings.Builder
	vars := map[string]any{}
	for i, e := range edits {
		vars[fmt.Sprintf("e%d", i)] = map[string]string{"pullRequestReviewCommentId": e.NodeID, "body": e.Body}
		vars[fmt.Sprintf("t%d", i)] = map[string]string{"threadId": e.ThreadID}
		selected, action, input := "id", "unresolveReviewThread", "UnresolveReviewThreadInput!"
		if list && i == 0 {
			selected = "pullRequest{reviewThreads(last:100)" + threadFields + "}"
		}
		if e.Resolved {
			action, input = "resolveReviewThread", "ResolveReviewThreadInput!"
		}
		fmt.Fprintf(&declared, "$e%d:UpdatePullRequestReviewCommentInput!,$t%d:%s,", i, i, input)
		fmt.Fprintf(&fields, "e%d:updatePullRequestReviewComment(input:$e%d){pullRequestReviewComment{%s}} t%d:%s(input:$t%d){thread{id}} ", i, i, selected, i, action, i)
	}
	var data map[string]struct {
		PullRequestReviewComment *struct{ PullRequest threadPage }
	}
	problems, err := c.graphql(ctx, t, op, "mutation("+declared.String()+"){"+fields.String()+"}", vars, &data)
	if err != nil {
		return out, err
	}
	if len(data) == 0 && len(problems) == 0 {
		return out, hostError(op, errNotWhole)
	}
	for _, p := range problems {
		i, edit := p.edit()
		switch err := p.hostError(op); {
		case i < 0 || i >= len(edits) || edit && err.Temporary():
			return out, err
		case edit:
			out.Gone = append(out.Gone, edits[i].NodeID)
		}
		// A thread that can't be resolved stays as it is.
	}
	if first := data["e0"].PullRequestReviewComment; list && first != nil {
		if out.Threads, err = first.PullRequest.ours(); err != nil {
			return out, hostError(op, err)
		}
	}
	return out, nil
}

// problem is an error in an answer of GraphQL.
type problem struct {
	Type    string
	Message string
	Path    []any
}

// edit returns the index of the edit that the problem is about, and whether it is about the
// comment or about its thread. The index is -1 if the problem is about the whole request.
func (p *problem) edit() (index int, comment bool) {
	if len(p.Path) == 0 {
		return -1, false
	}
	name, _ := p.Path[0].(string)
	for _, kind := range []string{"e", "t"} {
		if number, ok := strings.CutPrefix(name, kind); ok {
			if i, err := strconv.Atoi(number); err == nil {
				return i, kind == "e"
			}
		}
	}
	return -1, false
}

// hostError returns the problem as the error of a call. A problem without a type is one of
// GitHub's own.
func (p *problem) hostError(op string) *ports.HostError {
	err := &ports.HostError{Op: op, Kind: ports.HostInvalid, Status: http.StatusOK, Err: errors.New(clean(p.Type + ": " + p.Message))}
	switch p.Type {
	case "", "INTERNAL", "SERVICE_UNAVAILABLE":
		err.Kind = ports.HostTransient
	case "RATE_LIMITED", "RATE_LIMIT":
		err.Kind, err.RetryAfter = ports.HostLimited, unexplainedWait
	case "NOT_FOUND":
		err.Kind = ports.HostNotFound
	case "FORBIDDEN", "INSUFFICIENT_SCOPES":
		err.Kind = ports.HostForbidden
	}
	return err
}

// graphql asks GitHub's GraphQL API, whose errors come with status 200. It fills data with
// what GitHub could answer, and returns the problems with the rest.
func (c *api) graphql(ctx context.Context, t ports.Target, op, query string, variables map[string]any, data any) ([]problem, error) {
	answer := graphqlAnswer{Data: data}
	_, err := c.do(ctx, t, request{
		op: op, method: http.MethodPost, path: c.v4, route: "/graphql",
		body: map[string]any{"query": query, "variables": variables},
	}, asJSON(&answer))
	slices.SortStableFunc(answer.Errors, func(a, b problem) int { return len(a.Path) - len(b.Path) }) // the whole request first
	return answer.Errors, err
}

type graphqlAnswer struct {
	Data   any
	Errors []problem
}
