package ghtest_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/app/ghtest/examples"
)

// shapes holds the JSON types at each place of some payloads.
type shapes map[string]map[string]bool

func (s shapes) add(at string, v any) {
	kind := fmt.Sprintf("%T", v)
	if s[at] == nil {
		s[at] = map[string]bool{}
	}
	s[at][kind] = true
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			s.add(at+"."+key, value)
		}
	case []any:
		for _, item := range v {
			s.add(at+"[]", item)
		}
	}
}

// unexampled are places that GitHub documents for the events, although the examples lack
// them.
var unexampled = []string{
	"issue_comment.issue.pull_request",
	"issue_comment.issue.performed_via_github_app",
	"pull_request.changes",
	"check_run.requested_action",
	"merge_group.reason",
	"repository_dispatch.repository.disabled",
	"push.organization",
	"push.commits[].modified[]",
	"push.head_commit.modified[]",
	"ping.hook.config.secret",
	"check_suite.check_suite.app.slug",
	"check_suite.check_suite.app.events",
	"installation_repositories.installation.app_slug",
	"repository.changes",
	"pull_request_review.changes",
	"pull_request_review_comment.comment.subject_type",
	"pull_request_review_comment.pull_request.auto_merge",
	"pull_request_review_comment.pull_request.draft",
	"code_scanning_alert.alert.most_recent_instance",
	"code_scanning_alert.alert.fixed_at",
	"code_scanning_alert.alert.dismissed_comment",
	"check_suite.check_suite.latest_check_runs_count",
	"issues.changes",
	"issues.installation",
	"issues.issue.performed_via_github_app",
	"issues.issue.state_reason",
}

// younger are keys that GitHub added after the examples were published.
var younger = []string{"has_discussions", "allow_forking", "merge_queues"}

// TestPayloadsLookLikeGitHubs causes every event and compares its payload with GitHub's
// examples of that event. Each key must be in the examples, with a value of the same type.
// Keys that consumers need for routing must not be missing.
func TestPayloadsLookLikeGitHubs(t *testing.T) {
	gh, repo, c := shop(t, ghtest.Options{Events: []string{"pull_request", "issue_comment", "issues", "check_run", "check_suite", "code_scanning_alert", "merge_group", "push", "repository", "repository_dispatch", "pull_request_review", "pull_request_review_comment"}})
	provokeAll(t, gh, repo, c)

	known := map[string]shapes{}
	for _, p := range examples.Payloads() {
		if known[p.Event] == nil {
			known[p.Event] = shapes{}
		}
		var v any
		if err := json.Unmarshal(p.Body, &v); err != nil {
			t.Fatal(err)
		}
		known[p.Event].add(p.Event, v)
	}
	sent := map[string]bool{}
	for _, d := range gh.Webhook.Deliveries() {
		sent[d.Event+" "+d.Action] = true
		got := shapes{}
		var v any
		if err := json.Unmarshal(d.Payload, &v); err != nil {
			t.Fatal(err)
		}
		got.add(d.Event, v)
		compareShapes(t, d, got, known[d.Event])
		compareDescription(t, d, v)
	}
	for _, want := range []string{
		"pull_request opened", "pull_request synchronize", "pull_request edited", "pull_request closed", "pull_request reopened", "pull_request labeled", "pull_request unlabeled",
		"pull_request ready_for_review", "pull_request converted_to_draft", "pull_request locked", "issue_comment created", "issue_comment edited", "issue_comment deleted",
		"check_run created", "check_run completed", "check_run rerequested", "check_run requested_action", "merge_group checks_requested", "merge_group destroyed",
		"installation created", "installation suspend", "installation unsuspend", "installation deleted", "ping ", "push ",
		"installation_repositories added", "installation_repositories removed", "check_suite requested", "check_suite rerequested", "pull_request unlocked",
		"repository renamed", "repository transferred", "repository archived", "repository unarchived", "repository privatized", "repository publicized", "repository deleted",
		"repository edited", "pull_request_review submitted", "pull_request_review edited", "pull_request_review dismissed", "pull_request review_requested", "pull_request_review_comment created", "pull_request_review_comment edited",
		"check_suite completed", "code_scanning_alert appeared_in_branch", "code_scanning_alert fixed", "code_scanning_alert closed_by_user",
		"repository_dispatch milestone", "issues opened", "issues edited", "issues closed", "issues deleted",
	} {
		if !sent[want] {
			t.Errorf("%s was never sent", want)
		}
	}
}

// provokeAll causes every event once.
func provokeAll(t *testing.T, gh *ghtest.Server, repo *ghtest.Repo, c *client) {
	t.Helper()
	gh.Install("acme")
	gh.Webhook.Ping()
	pr := repo.OpenPR(ghtest.PR{Title: "Cart", Body: "Why not.", Files: ghtest.Files{"src/cart.go": "package cart\n"}})
	repo.Dispatch("acme", "milestone", nil)
	pr.Push(ghtest.Files{"src/cart.go": "package cart // twice\n"}, "more")
	title, base := "Cart, again", "release"
	repo.Commit(base, ghtest.Files{"r": "1"}, "release")
	pr.Edit(ghtest.Edit{Title: &title, Body: &title, Base: &base})
	pr.Label("bug")
	pr.Unlabel("bug")
	pr.ConvertToDraft()
	pr.ReadyForReview()
	pr.EditComment(pr.Comment("alice", "/review").ID, "/review now")
	said := pr.Reviews.Submit("bob", "changes_requested", "Not like this.")
	pr.Reviews.Edit(said.ID, "Not like that.")
	pr.Reviews.Dismiss("alice", said.ID)
	repo.Grant("bob", "write")
	c.want(c.do("POST", fmt.Sprintf("/repos/acme/shop/pulls/%d/requested_reviewers", pr.Number), map[string]any{"reviewers": []string{"bob"}}), 201)
	pr.Reviews.EditComment(pr.Reviews.Comment("bob", "src/cart.go", 1, "Why twice?").ID, "Why?")
	check := c.do("POST", "/repos/acme/shop/check-runs", map[string]any{"name": "reviewgate", "head_sha": pr.HeadSHA(), "conclusion": "success"})
	id := int64(check.field("id").(float64))
	c.want(c.do("PATCH", fmt.Sprintf("/repos/acme/shop/check-runs/%d", id), map[string]any{"conclusion": "neutral"}), 200)
	made := c.do("POST", "/repos/acme/shop/issues/1/comments", map[string]any{"body": "ours"})
	c.want(c.do("DELETE", fmt.Sprintf("/repos/acme/shop/issues/comments/%.0f", made.field("id")), nil), 204)
	repo.Checks.Rerequest("alice", id)
	repo.Checks.RequestAction("alice", id, "again")
	repo.Checks.OtherCheck("linter", "lint", pr.HeadSHA(), "failure", ghtest.Annotation{Path: "src/cart.go", StartLine: 1, EndLine: 1, Level: "failure", Message: "No."})
	repo.Checks.EndOtherSuite("linter", pr.HeadSHA())
	alerts := pr.Alerts.Analysed(ghtest.Alert{Tool: "CodeQL", Rule: "go/x", Severity: "error"}, ghtest.Alert{Tool: "CodeQL", Rule: "go/y", Severity: "note", SecuritySeverity: "low"})
	pr.Alerts.Fix(alerts[0].Number)
	pr.Alerts.Dismiss("alice", alerts[1].Number)
	repo.MergeGroup(pr).Destroy("dequeued")
	asked := repo.Issues.Open("alice", "Tidy up", "Please.")
	repo.Issues.Edit("alice", asked.Number, "Please, today.")
	repo.Issues.Close("alice", asked.Number, "not_planned")
	repo.Issues.Delete(asked.Number)
	pr.Close()
	pr.Reopen()
	pr.Merge()
	pr.Lock()
	pr.RerequestSuite("alice")
	pr.Unlock()
	repo.Settings.SetArchived(true)
	repo.Settings.SetArchived(false)
	repo.Settings.SetPrivate(true)
	repo.Settings.SetPrivate(false)
	repo.Settings.RenameDefaultBranch("trunk")
	repo.Settings.Rename("store")
	gh.Repo("widgets/tools")
	repo.Settings.Transfer("widgets")
	repo.Settings.SetInstalled(false)
	repo.Settings.SetInstalled(true)
	repo.Settings.Delete()
	settle(t, gh)
	gh.Suspend("acme")
	gh.Unsuspend("acme")
	gh.Uninstall("acme")
}

// compareDescription compares a payload with GitHub's description of its action, if the test
// data contains one.
func compareDescription(t *testing.T, d ghtest.Delivery, payload any) {
	t.Helper()
	doc, err := description()
	if err != nil {
		t.Fatal(err)
	}
	described := doc.Components.Schemas["webhook-"+strings.ReplaceAll(d.Event+"-"+d.Action, "_", "-")]
	if described == nil {
		return
	}
	if err := described.Value.VisitJSON(payload, openapi3.MultiErrors()); err != nil {
		t.Errorf("%s %s is not as described: %.2000v", d.Event, d.Action, err)
	}
}

func compareShapes(t *testing.T, d ghtest.Delivery, got, known shapes) {
	t.Helper()
	for _, at := range slices.Sorted(maps.Keys(got)) {
		if excused(at, known) {
			continue
		}
		there, ok := known[at]
		if !ok {
			t.Errorf("%s %s: GitHub's examples have no %s", d.Event, d.Action, at)
			continue
		}
		for kind := range got[at] {
			if !there[kind] && kind != "<nil>" {
				t.Errorf("%s %s: %s is %s, in GitHub's examples %v", d.Event, d.Action, at, kind, slices.Sorted(maps.Keys(there)))
			}
		}
	}
	if d.Event == "ping" {
		return
	}
	routing := []string{".sender.login", ".installation.id"}
	if !strings.HasPrefix(d.Event, "installation") {
		routing = append(routing, ".repository.id", ".repository.full_name", ".repository.owner.login", ".organization.login")
	}
	for _, at := range routing {
		if got[d.Event+at] == nil {
			t.Errorf("%s %s: no %s", d.Event, d.Action, at)
		}
	}
}

// excused reports whether a place, or a place above it, is known to be missing from the
// examples, or is null in all of them.
func excused(at string, known shapes) bool {
	if slices.Contains(younger, at[strings.LastIndex(at, ".")+1:]) {
		return true
	}
	for above := at; above != ""; above = above[:max(0, strings.LastIndexAny(above, ".["))] {
		if slices.Contains(unexampled, above) || len(known[above]) == 1 && known[above]["<nil>"] {
			return true
		}
	}
	return false
}
