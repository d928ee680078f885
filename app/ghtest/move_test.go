package ghtest_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/app/ghtest"
)

// unfollowed returns a client that shows redirects instead of following them.
func (c *client) unfollowed() *client {
	other, plain := *c, *c.http
	plain.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	other.http = &plain
	return &other
}

// TestDefaultBranchRenamed: a request without a branch uses the new default branch, and so do
// pull requests.
func TestDefaultBranchRenamed(t *testing.T) {
	_, repo, c := shop(t, ghtest.Options{})
	pr := repo.OpenPR(ghtest.PR{Files: ghtest.Files{"a": "1"}})
	tip := repo.Branch("main")
	repo.Settings.RenameDefaultBranch("trunk")
	if c.get("/repos/acme/shop/git/trees/HEAD").field("sha") != tip || c.get("/repos/acme/shop").field("default_branch") != "trunk" {
		t.Error("the default branch has the wrong name")
	}
	c.refused(c.do("GET", "/repos/acme/shop/git/ref/heads/main", nil), http.StatusNotFound, "Not Found")
	if base := c.get(fmt.Sprintf("/repos/acme/shop/pulls/%d", pr.Number)).field("base", "ref"); base != "trunk" {
		t.Errorf("the pull request is against %v", base)
	}
}

// TestRenamed: the old name redirects reads permanently and writes with their body. The
// target is the route by the repository's id, which answers like the route by name.
func TestRenamed(t *testing.T) {
	gh, repo, c := shop(t, ghtest.Options{})
	pr := repo.OpenPR(ghtest.PR{Files: ghtest.Files{"a": "1", "b": "2"}})
	app := newClient(t, gh)
	repo.Settings.Rename("store")
	byID := fmt.Sprintf("%s/repositories/%d", gh.URL, repo.ID())

	for _, tt := range []struct {
		c            *client
		method, path string
		body         any
		status       int
		message, to  string
	}{
		{c, "GET", "/repos/acme/shop", nil, 301, "Moved Permanently", byID},
		{c, "GET", "/repos/Acme/Shop/pulls/1/files?per_page=1", nil, 301, "Moved Permanently", byID + "/pulls/1/files?per_page=1"},
		{c, "POST", "/repos/acme/shop/issues/1/comments", fields{"body": "x"}, 307, "Temporary Redirect", byID + "/issues/1/comments"},
		{app, "GET", "/repos/acme/shop/installation", nil, 301, "Moved Permanently", byID + "/installation"},
	} {
		r := tt.c.unfollowed().do(tt.method, tt.path, tt.body)
		if r.status != tt.status || r.header.Get("Location") != tt.to || r.field("message") != tt.message || r.field("url") != tt.to {
			t.Errorf("%s %s: status %d, to %s: %s", tt.method, tt.path, r.status, r.header.Get("Location"), r.raw)
		}
	}
	if n := len(pr.Comments()); n != 0 {
		t.Errorf("a redirect wrote %d comments", n)
	}

	if name := c.get("/repos/acme/shop").field("full_name"); name != "acme/store" {
		t.Errorf("the old name leads to %v", name)
	}
	c.want(c.do("POST", "/repos/acme/shop/issues/1/comments", fields{"body": "x"}), http.StatusCreated)
	if n := len(pr.Comments()); n != 1 {
		t.Errorf("a redirected write created %d comments", n)
	}
	c.want(app.do("GET", "/repos/acme/shop/installation", nil), http.StatusOK)

	numbered := fmt.Sprintf("/repositories/%d", repo.ID())
	if d := cmp.Diff(c.get("/repos/acme/store/pulls/1").json, c.get(numbered+"/pulls/1").json); d != "" {
		t.Errorf("by name and by id (-name +id):\n%s", d)
	}
	if link := c.get(numbered + "/pulls/1/files?per_page=1").header.Get("Link"); link != fmt.Sprintf(`<%s/pulls/1/files?page=2&per_page=1>; rel="next", <%s/pulls/1/files?page=2&per_page=1>; rel="last"`, byID, byID) {
		t.Errorf("link: %s", link)
	}
	c.refused(c.do("GET", "/repositories/1/pulls", nil), http.StatusNotFound, "Not Found")
	c.prefix = "/api/v3"
	if to := c.unfollowed().do("GET", "/repos/acme/shop", nil).header.Get("Location"); to != fmt.Sprintf("%s/api/v3/repositories/%d", gh.URL, repo.ID()) {
		t.Errorf("the redirect leaves the prefix: %s", to)
	}
}

// TestOldNamesAreReused: a repository that takes an old name ends the redirect.
func TestOldNamesAreReused(t *testing.T) {
	gh, repo, c := shop(t, ghtest.Options{})
	repo.Settings.Rename("store")
	repo.Settings.Rename("mall")
	if name := c.get("/repos/acme/store").field("name"); name != "mall" {
		t.Errorf("an older name leads to %v", name)
	}
	other := gh.Repo("acme/shop")
	if id := c.get("/repos/acme/shop").field("id"); id != float64(other.ID()) {
		t.Errorf("the name leads to %v and not to the new repository %d", id, other.ID())
	}
	repo.Settings.Rename("store")
	if id := c.get("/repos/acme/store").field("id"); id != float64(repo.ID()) {
		t.Errorf("the restored name leads to %v", id)
	}
	repo.Settings.Delete()
	for _, path := range []string{"/repos/acme/store", "/repos/acme/mall", fmt.Sprintf("/repositories/%d", repo.ID())} {
		c.refused(c.do("GET", path, nil), http.StatusNotFound, "Not Found")
	}
}

// TestTransferred: the new owner's installation takes the repository over, if there is one.
func TestTransferred(t *testing.T) {
	h := newHook(t)
	gh, repo, c := shop(t, ghtest.Options{WebhookURL: h.URL, Permissions: ghtest.DefaultPermissions(), Events: []string{"pull_request", "repository"}})
	gh.Repo("widgets/tools")
	pr := repo.OpenPR(ghtest.PR{Files: ghtest.Files{"a": "1"}})
	h.names(t)

	repo.Settings.Transfer("widgets")
	want := []string{"installation_repositories removed", "installation_repositories added", "repository transferred"}
	if d := cmp.Diff(want, h.names(t)); d != "" {
		t.Errorf("events (-want +got):\n%s", d)
	}
	for i, id := range []int64{gh.InstallationID("acme"), gh.InstallationID("widgets"), gh.InstallationID("widgets")} {
		log := gh.Webhook.Deliveries()
		if d := log[len(log)-3+i]; d.InstallationID != id {
			t.Errorf("%s %s went to installation %d, want %d", d.Event, d.Action, d.InstallationID, id)
		}
	}
	comment := fields{"body": "x"}
	c.refused(c.do("POST", "/repos/acme/shop/issues/1/comments", comment), http.StatusForbidden, "not accessible by integration")
	w := newClient(t, gh).asInstallation("widgets")
	w.want(w.do("POST", "/repos/acme/shop/issues/1/comments", comment), http.StatusCreated)
	pr.Label("bug")
	if d := gh.Webhook.LastDelivery("pull_request"); d.InstallationID != gh.InstallationID("widgets") || d.RepositoryID != repo.ID() {
		t.Errorf("delivery: %+v", d)
	}

	repo.Settings.SetPrivate(true)
	c.refused(c.do("GET", "/repos/acme/shop", nil), http.StatusNotFound, "Not Found")
	h.names(t)
	repo.Settings.Transfer("strangers")
	if d := cmp.Diff([]string{"installation_repositories removed"}, h.names(t)); d != "" {
		t.Errorf("events (-want +got):\n%s", d)
	}
	w.refused(w.do("GET", "/repos/widgets/shop", nil), http.StatusNotFound, "Not Found")
	pr.Label("late")
	if names := h.names(t); len(names) != 0 {
		t.Errorf("events of a repository without the App: %v", names)
	}
}

func TestArchivedAndLocked(t *testing.T) {
	_, repo, c := shop(t, ghtest.Options{})
	pr := repo.OpenPR(ghtest.PR{Files: ghtest.Files{"a": "1"}})
	said := pr.Comment("alice", "/review")
	talk := func() map[string]reply {
		return map[string]reply{
			"comment":  c.do("POST", "/repos/acme/shop/issues/1/comments", fields{"body": "x"}),
			"edit":     c.do("PATCH", fmt.Sprintf("/repos/acme/shop/issues/comments/%d", said.ID), fields{"body": "x"}),
			"reaction": c.do("POST", fmt.Sprintf("/repos/acme/shop/issues/comments/%d/reactions", said.ID), fields{"content": "eyes"}),
		}
	}
	check := func() {
		t.Helper()
		c.want(c.do("POST", "/repos/acme/shop/check-runs", fields{"name": "reviewgate", "head_sha": pr.HeadSHA()}), http.StatusCreated)
	}
	repo.Settings.SetArchived(true)
	for _, r := range talk() {
		c.refused(r, http.StatusForbidden, "Repository was archived so is read-only.")
	}
	check()
	repo.Settings.SetArchived(false)
	pr.Lock()
	for _, r := range talk() {
		c.refused(r, http.StatusForbidden, "locked")
	}
	check()
	pr.Unlock()
	for what, r := range talk() {
		if r.status >= 300 {
			t.Errorf("%s after all changes: status %d", what, r.status)
		}
	}
}

// TestInstalledAgain: an App that is installed again gets another installation.
func TestInstalledAgain(t *testing.T) {
	gh, _, c := shop(t, ghtest.Options{})
	before := gh.InstallationID("acme")
	gh.Uninstall("acme")
	gh.Install("acme")
	if gh.InstallationID("acme") == before {
		t.Error("the installation has the removed one's id")
	}
	c.refused(c.do("GET", "/repos/acme/shop/pulls", nil), http.StatusUnauthorized, "Bad credentials")
	newClient(t, gh).asInstallation("acme").get("/repos/acme/shop/pulls")
}

// TestForgottenCommits: a commit that was pushed over exists until GitHub forgets it.
func TestForgottenCommits(t *testing.T) {
	_, repo, c := shop(t, ghtest.Options{})
	pr := repo.OpenPR(ghtest.PR{Files: ghtest.Files{"a": "1"}})
	old := pr.HeadSHA()
	pr.ForcePush(ghtest.Files{"a": "2"}, "anew")
	check := func() reply {
		return c.do("POST", "/repos/acme/shop/check-runs", fields{"name": "reviewgate", "head_sha": old})
	}
	c.want(check(), http.StatusCreated)
	repo.Forget(old)
	c.refused(check(), http.StatusUnprocessableEntity, "No commit found for SHA: "+old)
	c.refused(c.do("GET", "/repos/acme/shop/commits/"+old, nil), http.StatusUnprocessableEntity, "No commit found")
	c.refused(c.do("GET", "/repos/acme/shop/contents/a?ref="+old, nil), http.StatusNotFound, "No commit found for the ref")
	c.refused(c.do("GET", "/repos/acme/shop/compare/main..."+old, nil), http.StatusNotFound, "Not Found")

	repo.Forget(pr.HeadSHA())
	if head := c.get("/repos/acme/shop/pulls/1").field("head", "sha"); head != pr.HeadSHA() {
		t.Errorf("the pull request's head is %v", head)
	}
}

// TestReopened: a push to a closed pull request appears in it when it is reopened.
func TestReopened(t *testing.T) {
	_, repo, _ := shop(t, ghtest.Options{})
	pr := repo.OpenPR(ghtest.PR{Files: ghtest.Files{"a": "1"}})
	head := pr.HeadSHA()
	pr.Close()
	pushed := pr.Push(ghtest.Files{"a": "2"}, "meanwhile")
	if pr.HeadSHA() != head {
		t.Error("the head of a closed pull request moved")
	}
	pr.Reopen()
	if pr.HeadSHA() != pushed {
		t.Errorf("reopened at %s and not at %s", pr.HeadSHA(), pushed)
	}
}

// TestPullsAreSorted: lists start with the newest entry, unless the request names another
// order.
func TestPullsAreSorted(t *testing.T) {
	_, repo, c := shop(t, ghtest.Options{})
	first := repo.OpenPR(ghtest.PR{Head: "one", Files: ghtest.Files{"a": "1"}})
	repo.OpenPR(ghtest.PR{Head: "two", Files: ghtest.Files{"b": "1"}})
	first.Label("bug")
	for query, want := range map[string]float64{"": 2, "?sort=created": 2, "?direction=asc": 1, "?sort=updated": 2, "?sort=updated&direction=desc": 1} {
		if n := c.get("/repos/acme/shop/pulls"+query).field(0, "number"); n != want {
			t.Errorf("%q begins with #%v, want #%v", query, n, want)
		}
	}
}
