package gh

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/app/ports"
)

// commentWriter implements ports.CommentWriter.
type commentWriter struct{ *api }

// maxCommentPages is more than an issue can have: GitHub allows 2,500 comments.
const maxCommentPages = 30

// maxRemarks bounds the remarks that are held at once, in bytes. It has room for a
// hundred comments of the greatest length. Anybody who may comment can write more
// than that.
const maxRemarks = 8 << 20

// comment is an issue comment. go-github's type lacks the app that wrote it.
type comment struct {
	ID      int64  `json:"id"`
	Body    string `json:"body"`
	HTMLURL string `json:"html_url"`
	User    struct {
		Login string `json:"login"`
		Type  string `json:"type"`
	} `json:"user"` // empty for a deleted account
	App struct {
		ID int64 `json:"id"`
	} `json:"performed_via_github_app"`
}

type commentText struct {
	Body string `json:"body"`
}

func (m *comment) whole() error { return wholeIf(m.ID > 0) }

// commentList is a page of comments.
type commentList []comment

func (l *commentList) whole() error {
	return wholeList(*l, func(m comment) bool { return m.ID > 0 })
}

// CreateComment comments on the pull request.
func (c commentWriter) CreateComment(ctx context.Context, t ports.Target, body string) (int64, error) {
	var created comment
	_, err := c.do(ctx, t, request{
		op: "create the comment", method: http.MethodPost,
		path: "/repos/{owner}/{repo}/issues/{issue_number}/comments", args: []any{t.Owner, t.Name, t.Number},
		body: commentText{body},
	}, asJSON(&created))
	return created.ID, err
}

// UpdateComment rewrites a comment.
func (c commentWriter) UpdateComment(ctx context.Context, t ports.Target, id int64, body string) error {
	_, err := c.do(ctx, t, request{
		op: "update the comment", method: http.MethodPatch,
		path: "/repos/{owner}/{repo}/issues/comments/{comment_id}", args: []any{t.Owner, t.Name, id},
		body: commentText{body},
	}, ignored)
	return err
}

// DeleteComment deletes a comment. It is no error if the comment does not exist any
// more.
func (c commentWriter) DeleteComment(ctx context.Context, t ports.Target, id int64) error {
	_, err := c.do(ctx, t, request{
		op: "delete the comment", method: http.MethodDelete,
		path: "/repos/{owner}/{repo}/issues/comments/{comment_id}", args: []any{t.Owner, t.Name, id},
	}, ignored)
	if isNotFound(err) {
		return nil
	}
	return err
}

// Comments lists the comments on the pull request that our app wrote and that
// carry the marker, oldest first. Anyone can paste a marker; GitHub itself
// vouches for the app.
func (c commentWriter) Comments(ctx context.Context, t ports.Target, marker string) ([]ports.Comment, error) {
	all, err := allPages[commentList](ctx, c.api, t, request{
		op: "list the comments", method: http.MethodGet,
		path: "/repos/{owner}/{repo}/issues/{issue_number}/comments", args: []any{t.Owner, t.Name, t.Number},
	}, maxCommentPages)
	if err != nil {
		return nil, err
	}
	var out []ports.Comment
	for _, m := range slices.Concat(all...) {
		if m.App.ID == c.appID && strings.HasPrefix(m.Body, marker) {
			out = append(out, ports.Comment{ID: m.ID, Body: m.Body, URL: m.HTMLURL})
		}
	}
	slices.SortFunc(out, func(a, b ports.Comment) int { return cmp.Compare(a.ID, b.ID) })
	return out, nil
}

// Remarks lists the comments on the pull request that people wrote and that contain
// words, oldest first. Comments by apps, ours included, are left out. A merge group
// has the remarks of the pull request that its ref names. More than 8 MB of remarks
// are an error.
func (s *source) Remarks(ctx context.Context, words string) ([]ports.Remark, error) {
	const op = "list the comments"
	t := s.target
	if t.Number == 0 {
		return nil, nil
	}
	var out []ports.Remark
	held := 0
	r := s.get(op, "/repos/{owner}/{repo}/issues/{issue_number}/comments", t.Owner, t.Name, t.Number)
	err := walkAll(ctx, s.client, t, r, maxCommentPages, func(page commentList) bool {
		for _, m := range page {
			if m.User.Type == "User" && m.User.Login != "" && m.App.ID != s.client.appID && strings.Contains(m.Body, words) {
				if held += len(m.Body); held > maxRemarks {
					return false
				}
				out = append(out, ports.Remark{ID: m.ID, Author: m.User.Login, Body: m.Body})
			}
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	if held > maxRemarks {
		return nil, &ports.HostError{Op: op, Kind: ports.HostInvalid, Err: fmt.Errorf("those with %q come to more than %d MB: delete what is out of date", words, maxRemarks>>20)}
	}
	slices.SortFunc(out, func(a, b ports.Remark) int { return cmp.Compare(a.ID, b.ID) })
	return out, nil
}

// React puts a reaction, such as "eyes", on a comment. GitHub keeps one of
// each kind. The REST API has no reactions to the body of a review: there React does
// nothing.
func (c commentWriter) React(ctx context.Context, t ports.Target, place ports.CommentPlace, commentID int64, reaction string) error {
	path := "/repos/{owner}/{repo}/issues/comments/{comment_id}/reactions"
	switch place {
	case ports.PlaceReview:
		return nil
	case ports.PlaceReviewLine:
		path = "/repos/{owner}/{repo}/pulls/comments/{comment_id}/reactions"
	}
	_, err := c.do(ctx, t, request{
		op: "react to the comment", method: http.MethodPost, path: path, args: []any{t.Owner, t.Name, commentID},
		body: map[string]string{"content": reaction},
	}, ignored)
	return err
}
