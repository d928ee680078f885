package apptest

import (
	"slices"

	"github.com/reviewgate/reviewgate/app/ghtest"
)

// Routes of GitHub's API that tests hook or count.
const (
	RoutePull        = "GET /repos/{owner}/{repo}/pulls/{pull_number}"
	RouteFiles       = "GET /repos/{owner}/{repo}/pulls/{pull_number}/files"
	RouteTree        = "GET /repos/{owner}/{repo}/git/trees/{tree_sha}"
	RouteContents    = "GET /repos/{owner}/{repo}/contents/{path}"
	RouteRefs        = "GET /{owner}/{repo}/info/refs"        // git's
	RouteUpload      = "POST /{owner}/{repo}/git-upload-pack" // git's, of objects
	RouteComment     = "POST /repos/{owner}/{repo}/issues/{issue_number}/comments"
	RouteReact       = "POST /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions"
	RoutePatchCheck  = "PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}"
	RouteReview      = "POST /repos/{owner}/{repo}/pulls/{pull_number}/reviews"
	RouteGraphQL     = "POST /graphql"
	RouteDismiss     = "PUT /repos/{owner}/{repo}/pulls/{pull_number}/reviews/{review_id}/dismissals"
	RouteRequests    = "POST /repos/{owner}/{repo}/pulls/{pull_number}/requested_reviewers"
	RouteAddLabel    = "POST /repos/{owner}/{repo}/issues/{issue_number}/labels"
	RouteRemoveLabel = "DELETE /repos/{owner}/{repo}/issues/{issue_number}/labels/{name}"
	RoutePayload     = "GET /app/hook/deliveries/{delivery_id}"
	RouteRedeliver   = "POST /app/hook/deliveries/{delivery_id}/attempts"
)

// Says answers with a text instead of the true one. It removes the ETag, because otherwise
// the client's cache would keep the text.
func Says(x *ghtest.Exchange, status int, kind, text string) {
	r := x.Proceed()
	r.Status, r.Body = status, []byte(text)
	r.Header.Del("ETag")
	r.Header.Set("Content-Type", kind)
}

// Satisfies reports whether the conclusion satisfies a required check.
func Satisfies(conclusion string) bool {
	return slices.Contains([]string{"success", "neutral", "skipped"}, conclusion)
}
