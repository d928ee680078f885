package gh

import (
	"context"
	"net/http"

	"github.com/reviewgate/reviewgate/app/ports"
)

// labelWriter implements ports.LabelWriter.
type labelWriter struct{ *api }

// AddLabel adds a label to the pull request. If the repository does not have the label,
// GitHub creates it.
func (c labelWriter) AddLabel(ctx context.Context, t ports.Target, label string) error {
	_, err := c.do(ctx, t, request{
		op: "add the label", method: http.MethodPost,
		path: "/repos/{owner}/{repo}/issues/{issue_number}/labels", args: []any{t.Owner, t.Name, t.Number},
		body: map[string][]string{"labels": {label}},
	}, ignored)
	return err
}

// RemoveLabel removes a label from the pull request. It is no error if the pull request
// does not have the label.
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
