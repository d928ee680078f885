package ghtest_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/app/ghtest"
)

// withIssues are the permissions of an App that may write issues.
func withIssues() map[string]string {
	p := ghtest.DefaultPermissions()
	p["issues"] = "write"
	return p
}

const issues = "/repos/acme/shop/issues"

func TestIssueLimits(t *testing.T) {
	_, repo, c := shop(t, ghtest.Options{Permissions: withIssues()})
	c.want(c.do("POST", issues, fields{"title": strings.Repeat("é", 256), "body": strings.Repeat("é", 65536)}), http.StatusCreated)
	c.refused(c.do("POST", issues, fields{"title": strings.Repeat("x", 257)}), http.StatusUnprocessableEntity, "256 characters")
	c.refused(c.do("POST", issues, fields{"title": "x", "body": strings.Repeat("x", 65537)}), http.StatusUnprocessableEntity, "65536 characters")
	c.refused(c.do("POST", issues, fields{"title": " "}), http.StatusUnprocessableEntity, "blank")
	c.refused(c.do("POST", issues, fields{"title": "x", "labels": []string{strings.Repeat("x", 51)}}), http.StatusUnprocessableEntity, "50 characters")
	c.refused(c.do("POST", issues, fields{"body": "x"}), http.StatusUnprocessableEntity, "wasn't supplied")
	c.refused(c.do("PATCH", issues+"/1", fields{"state": "done"}), http.StatusUnprocessableEntity, "not a member")
	c.refused(c.do("GET", issues+"/7", nil), http.StatusNotFound, "Not Found")
	repo.Issues.Delete(1)
	c.refused(c.do("GET", issues+"/1", nil), http.StatusGone, "deleted")
	repo.Issues.SetEnabled(false)
	c.refused(c.do("POST", issues, fields{"title": "x"}), http.StatusGone, "disabled")
	c.refused(c.do("GET", issues, nil), http.StatusGone, "disabled")
	repo.Issues.SetEnabled(true)
	repo.Settings.SetArchived(true)
	c.refused(c.do("POST", issues, fields{"title": "x"}), http.StatusForbidden, "archived")
}

func TestIssuesNeedThePermission(t *testing.T) {
	_, repo, c := shop(t, ghtest.Options{})
	repo.OpenPR(ghtest.PR{Files: ghtest.Files{}})
	c.refused(c.do("POST", issues, fields{"title": "x"}), http.StatusForbidden, "not accessible by integration")
	c.want(c.get(issues), http.StatusOK)
	// The labels of a pull request belong to the permission for pull requests.
	c.want(c.do("POST", issues+"/1/labels", fields{"labels": []string{"a"}}), http.StatusOK)
}

func TestCreatedIssuesCountAsContent(t *testing.T) {
	limits := ghtest.GitHubLimits()
	limits.CreationsPerMinute = 1
	_, _, c := shop(t, ghtest.Options{Permissions: withIssues(), Limits: &limits})
	c.want(c.do("POST", issues, fields{"title": "x"}), http.StatusCreated)
	c.refused(c.do("POST", issues, fields{"title": "y"}), http.StatusForbidden, "secondary rate limit")
}

func TestIssueLife(t *testing.T) {
	events := append(ghtest.DefaultEvents(), "issues")
	gh, repo, c := shop(t, ghtest.Options{Permissions: withIssues(), Events: events})
	repo.OpenPR(ghtest.PR{Files: ghtest.Files{}, Labels: []string{"debt"}})
	pasted := repo.Issues.Open("mallory", "Mine", "<!-- marker -->")
	made := c.do("POST", issues, fields{"title": "Ours", "body": "b", "labels": []string{"debt"}})
	c.want(made, http.StatusCreated)
	if made.field("number") != 3.0 || made.field("performed_via_github_app", "id") != float64(gh.AppID()) || made.field("user", "type") != "Bot" {
		t.Errorf("the App's issue doesn't name the App: %s", made.raw)
	}
	numbers := func(query string) []int {
		var all []int
		r := c.get(issues + query)
		for i := range r.len() {
			all = append(all, int(r.field(i, "number").(float64)))
		}
		return all
	}
	for query, want := range map[string][]int{
		"": {3, 2, 1}, "?direction=asc": {1, 2, 3}, "?labels=debt": {3, 1}, "?creator=reviewgate[bot]": {3},
		"?state=closed": nil, "?since=2100-01-01T00:00:00Z": nil,
	} {
		if got := numbers(query); !slices.Equal(got, want) {
			t.Errorf("%q lists %v, want %v", query, got, want)
		}
	}
	if c.get(issues).field(1, "performed_via_github_app") != nil {
		t.Error("mallory's issue names the App")
	}
	repo.Issues.Close("alice", pasted.Number, "not_planned")
	c.want(c.do("PATCH", issues+"/3", fields{"body": "done", "state": "closed", "state_reason": "completed"}), http.StatusOK)
	c.want(c.do("PATCH", issues+"/3", fields{"state": "open"}), http.StatusOK)
	if err := gh.Webhook.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := []ghtest.Issue{
		{Number: 2, Author: "mallory", Title: "Mine", Body: "<!-- marker -->", State: "closed", StateReason: "not_planned"},
		{Number: 3, Author: "reviewgate[bot]", Title: "Ours", Body: "done", State: "open", StateReason: "reopened", Labels: []string{"debt"}, Edits: 2},
	}
	if diff := cmp.Diff(want, repo.Issues.All()); diff != "" {
		t.Errorf("issues (-want +got):\n%s", diff)
	}
}

func TestLabelsOfAPullRequest(t *testing.T) {
	_, repo, c := shop(t, ghtest.Options{})
	pr := repo.OpenPR(ghtest.PR{Files: ghtest.Files{}, Labels: []string{"bug"}})
	c.want(c.do("POST", issues+"/1/labels", fields{"labels": []string{"risk: low", "bug"}}), http.StatusOK)
	c.want(c.do("DELETE", issues+"/1/labels/bug", nil), http.StatusOK)
	c.refused(c.do("DELETE", issues+"/1/labels/bug", nil), http.StatusNotFound, "Label does not exist")
	if got := pr.Labels(); !slices.Equal(got, []string{"risk: low"}) {
		t.Errorf("labels %v", got)
	}
}
