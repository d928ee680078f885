package ghtest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/app/ghtest"
)

// TestEveryRouteAnswersAsDescribed makes at least one successful call of every route. The
// client's transport compares it with GitHub's OpenAPI description. A route without such a
// call fails the test.
func TestEveryRouteAnswersAsDescribed(t *testing.T) {
	permissions := withIssues()
	permissions["members"] = "read"
	gh, repo, inst := shop(t, ghtest.Options{Permissions: permissions})
	repo.Commit("main", ghtest.Files{"link": ghtest.Symlink("nowhere"), "vendor/lib": ghtest.Submodule(strings.Repeat("a", 40)), "big.bin": strings.Repeat("\x00x", 800_000)}, "odd things")
	repo.Grant("alice", "maintain")
	pr := repo.OpenPR(ghtest.PR{Files: ghtest.Files{"src/cart.go": "package cart\n", "new file.go": "package x\n"}, Labels: []string{"bug"}, Body: "Because."})
	fork := repo.OpenPR(ghtest.PR{Head: "forked", Fork: "mallory", Author: "mallory", Files: ghtest.Files{"evil.go": "package evil\n"}})
	fork.Fork().Settings.Delete()
	said := pr.Comment("alice", "/review")
	onLine := fmt.Sprintf("/repos/acme/shop/pulls/comments/%d/reactions", pr.Reviews.Comment("alice", "src/cart.go", 1, "/review").ID)
	gh.Team("acme", "owners", "alice")
	repo.Checks.OtherCheck("another-app", "ci", pr.HeadSHA(), "success")
	repo.Settings.Protect("main", ghtest.RequiredCheck{Name: "reviewgate", App: gh.AppID()}, ghtest.RequiredCheck{Name: "ci"})
	repo.Settings.AddRules("main", ghtest.RequireChecks(ghtest.RequiredCheck{Name: "reviewgate", App: gh.AppID()}), ghtest.MergeQueue(), ghtest.Rule{Type: "deletion"})
	gh.Webhook.Set("http://127.0.0.1:1/hook", "secret")
	app := newClient(t, gh)
	permissions["security_events"] = "read"
	gh.SetPermissions("acme", permissions)
	inst = inst.withAuth(gh.Token("acme"))
	pr.Alerts.Analysed(ghtest.Alert{Tool: "CodeQL", Rule: "go/sql-injection", Description: "SQL injection", Severity: "error", SecuritySeverity: "high", Path: "src/cart.go", StartLine: 1, Message: "From the user."})

	check := inst.do("POST", "/repos/acme/shop/check-runs", map[string]any{
		"name": "reviewgate", "head_sha": pr.HeadSHA(), "external_id": "run-1", "status": "in_progress", "started_at": "2026-01-05T09:00:00Z",
		"output":  map[string]any{"title": "Reviewing", "summary": "Under way.", "annotations": []any{annotation("src/cart.go", 1)}},
		"actions": []any{map[string]any{"label": "Review again", "description": "Run it again", "identifier": "again"}},
	})
	inst.want(check, http.StatusCreated)
	checkPath := fmt.Sprintf("/repos/acme/shop/check-runs/%.0f", check.field("id"))
	comment := inst.do("POST", "/repos/acme/shop/issues/1/comments", map[string]any{"body": "Looks good."})
	inst.want(comment, http.StatusCreated)
	commentPath := fmt.Sprintf("/repos/acme/shop/issues/comments/%.0f", comment.field("id"))
	reactions := fmt.Sprintf("/repos/acme/shop/issues/comments/%d/reactions", said.ID)
	review := inst.do("POST", "/repos/acme/shop/pulls/1/reviews", map[string]any{"event": "APPROVE", "body": "Good.", "commit_id": pr.HeadSHA()})
	inst.want(review, http.StatusOK)
	dismissal := fmt.Sprintf("/repos/acme/shop/pulls/1/reviews/%.0f/dismissals", review.field("id"))
	tree := inst.get("/repos/acme/shop/git/trees/main?recursive=1")
	delivery := gh.Webhook.LastDelivery("pull_request")

	calls := []struct {
		c            *client
		method, path string
		body         any
		status       int
	}{
		{app, "GET", "/app", nil, 200},
		{app, "GET", "/app/installations", nil, 200},
		{app, "GET", fmt.Sprintf("/app/installations/%d", gh.InstallationID("acme")), nil, 200},
		{app, "POST", fmt.Sprintf("/app/installations/%d/access_tokens", gh.InstallationID("acme")), map[string]any{"repositories": []string{"shop"}, "permissions": map[string]any{"checks": "write"}}, 201},
		{app, "GET", "/repos/acme/shop/installation", nil, 200},
		{app, "GET", "/app/hook/config", nil, 200},
		{app, "GET", "/app/hook/deliveries?per_page=1", nil, 200},
		{app, "GET", fmt.Sprintf("/app/hook/deliveries/%d", delivery.ID), nil, 200},
		{app, "POST", fmt.Sprintf("/app/hook/deliveries/%d/attempts", delivery.ID), nil, 202},
		{inst, "GET", "/installation/repositories", nil, 200},
		{inst, "GET", "/rate_limit", nil, 200},
		{inst, "GET", "/users/alice", nil, 200},
		{inst, "GET", "/repos/acme/shop", nil, 200},
		{inst, "GET", "/repos/acme/shop/collaborators/alice/permission", nil, 200},
		{inst, "GET", "/repos/acme/shop/pulls?state=all", nil, 200},
		{inst, "GET", "/repos/acme/shop/pulls/1", nil, 200},
		{inst, "GET", "/repos/acme/shop/pulls/2", nil, 200}, // of a deleted fork
		{inst, "GET", "/repos/acme/shop/pulls/1/files", nil, 200},
		{inst, "GET", "/repos/acme/shop/pulls/1/commits", nil, 200},
		{inst, "GET", "/repos/acme/shop/pulls/1/reviews", nil, 200},
		{inst, "PUT", dismissal, map[string]any{"message": "Pushed to."}, 200},
		{inst, "POST", "/repos/acme/shop/pulls/2/requested_reviewers", map[string]any{"reviewers": []string{"alice"}, "team_reviewers": []string{"owners"}}, 201},
		{inst, "GET", "/repos/acme/shop/pulls/2/requested_reviewers", nil, 200},
		{inst, "GET", "/repos/acme/shop/commits/main", nil, 200},
		{inst, "GET", "/repos/acme/shop/commits/" + pr.HeadSHA() + "/pulls", nil, 200},
		{inst, "GET", "/repos/acme/shop/commits/" + pr.HeadSHA() + "/check-runs?filter=all", nil, 200},
		{inst, "GET", "/repos/acme/shop/compare/main...change", nil, 200},
		{inst, "GET", "/repos/acme/shop/branches", nil, 200},
		{inst, "GET", "/repos/acme/shop/branches/main", nil, 200},
		{inst, "GET", "/repos/acme/shop/rules/branches/main", nil, 200},
		{inst, "GET", "/repos/acme/shop/git/ref/heads/main", nil, 200},
		{inst, "GET", "/repos/acme/shop/git/matching-refs/heads/", nil, 200},
		{inst, "GET", "/repos/acme/shop/git/blobs/" + tree.field("tree", 0, "sha").(string), nil, 200},
		{inst, "GET", "/repos/acme/shop/git/commits/" + pr.HeadSHA(), nil, 200},
		{inst, "GET", "/repos/acme/shop/contents/README.md", nil, 200},
		{inst, "GET", "/repos/acme/shop/contents/", nil, 200},
		{inst, "GET", "/repos/acme/shop/contents/link", nil, 200},
		{inst, "GET", "/repos/acme/shop/contents/vendor/lib", nil, 200},
		{inst, "GET", "/repos/acme/shop/contents/big.bin", nil, 200},
		{inst, "GET", checkPath, nil, 200},
		{inst, "GET", checkPath + "/annotations", nil, 200},
		{inst, "PATCH", checkPath, map[string]any{"conclusion": "success", "output": map[string]any{"title": "Passed", "summary": "Fine."}}, 200},
		{inst, "GET", "/repos/acme/shop/code-scanning/alerts?ref=refs/pull/1/merge&state=open", nil, 200},
		{inst, "GET", "/repos/acme/shop/issues/1/comments", nil, 200},
		{inst, "GET", commentPath, nil, 200},
		{inst, "PATCH", commentPath, map[string]any{"body": "Looks better."}, 200},
		{inst, "POST", reactions, map[string]any{"content": "eyes"}, 201},
		{inst, "POST", reactions, map[string]any{"content": "eyes"}, 200},
		{inst, "GET", reactions, nil, 200},
		{inst, "POST", onLine, map[string]any{"content": "eyes"}, 201},
		{inst, "GET", "/orgs/acme/teams/owners/memberships/alice", nil, 200},
		{inst, "DELETE", commentPath, nil, 204},
		{inst, "POST", "/repos/acme/shop/issues", map[string]any{"title": "Tidy up", "body": "Because.", "labels": []string{"debt"}}, 201},
		{inst, "GET", "/repos/acme/shop/issues?state=all&since=2020-01-05T09:00:00Z&sort=created&direction=desc", nil, 200},
		{inst, "GET", "/repos/acme/shop/issues/3", nil, 200},
		{inst, "PATCH", "/repos/acme/shop/issues/3", map[string]any{"body": "Done.", "state": "closed", "state_reason": "completed"}, 200},
		{inst, "POST", "/repos/acme/shop/issues/1/labels", map[string]any{"labels": []string{"risk: high"}}, 200},
		{inst, "DELETE", "/repos/acme/shop/issues/1/labels/risk:%20high", nil, 200},
	}
	for _, call := range calls {
		if r := call.c.do(call.method, call.path, call.body); r.status != call.status {
			t.Errorf("%s %s: status %d instead of %d: %.300s", call.method, call.path, r.status, call.status, r.raw)
		}
	}

	for _, route := range ghtest.Routes() {
		if strings.HasPrefix(route, "DELETE ") {
			continue // the answer has no described body
		}
		if !inst.http.Transport.(*describedTransport).seen[route] && !app.http.Transport.(*describedTransport).seen[route] {
			t.Errorf("%s: no answer was compared with its description", route)
		}
	}
}

func annotation(path string, line int) map[string]any {
	return map[string]any{"path": path, "start_line": line, "end_line": line, "annotation_level": "warning", "message": "Mind this."}
}

// TestDescriptionCoversRoutes fails when a route is added and the description is not
// regenerated.
func TestDescriptionCoversRoutes(t *testing.T) {
	doc, err := description()
	if err != nil {
		t.Fatal(err)
	}
	for _, route := range ghtest.Routes() {
		method, template, _ := strings.Cut(route, " ")
		if item := doc.Paths.Value(template); item == nil || item.GetOperation(method) == nil {
			t.Errorf("%s is not in testdata/openapi/github.json: run internal/prune", route)
		}
	}
}

func TestUnknownRoutesAreNoticed(t *testing.T) {
	gh := ghtest.Start(t, ghtest.Options{})
	c := newClient(t, gh)
	c.refused(c.do("GET", "/repos/acme/shop/teams", nil), http.StatusNotFound, "Not Found")
	calls := gh.Calls.Unexpected()
	if len(calls) != 1 || calls[0].Path != "/repos/acme/shop/teams" {
		text, _ := json.Marshal(calls)
		t.Errorf("unexpected calls: %s", text)
	}
}

func TestEnterprisePrefix(t *testing.T) {
	_, repo, c := shop(t, ghtest.Options{})
	repo.OpenPR(ghtest.PR{Files: ghtest.Files{"a": "1", "b": "2"}})
	c.prefix = "/api/v3"
	r := c.get("/repos/acme/shop/pulls/1/files?per_page=1")
	if link := r.header.Get("Link"); !strings.Contains(link, "/api/v3/repos/acme/shop/pulls/1/files?page=2&per_page=1>; rel=\"next\"") {
		t.Errorf("the link to the next page leaves the prefix: %s", link)
	}
}
