package gh

import (
	"context"
	"net/http"

	"github.com/reviewgate/reviewgate/app/ports"
)

// labelWriter implements ports.LabelWriter.
type labelWriter struct{ *api }

// AddLabel puts a label on the pull request. One that the repository does not
// have is made; one that is there stays.
func (c labelWriter) AddLabel(ctx context.Context, t ports.Target, label string) error {
	_, err := c.do(ctx, t, request{
		op: "add the label", method: http.MethodPost,
		path: "/repos/{owner}/{repo}/issues/{issue_number}/labels", args: []any{t.Owner, t.Name, t.Number},
		body: map[string][]string{"labels": {label}},
	}, ignored)
	return err
}

// RemoveLabel takes a label off the pull request. One that is gone already is no
// error.
func (c labelWriter) RemoveLabel(ctx context.Context, t ports.Target, label string) error {
	_, err := c.do(ctx, t, request{
		op: "remove the label", method: http.MethodDelete,
		path: "/repos/{owner}/{repo}/issues/{issue_number}/labels/{name}", args: []any{t.Owner, t.Name, t.Number, label},
	}, ignored)
	if isNotFound(err) {
		return nil
	}
	return err
}
