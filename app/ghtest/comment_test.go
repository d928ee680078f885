package ghtest_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/reviewgate/reviewgate/app/ghtest"
)

func TestCommentLimits(t *testing.T) {
	_, repo, c := shop(t, ghtest.Options{})
	pr := repo.OpenPR(ghtest.PR{Files: ghtest.Files{}})
	comments := "/repos/acme/shop/issues/1/comments"
	c.want(c.do("POST", comments, fields{"body": strings.Repeat("é", 65536)}), http.StatusCreated)
	c.refused(c.do("POST", comments, fields{"body": strings.Repeat("x", 65537)}), http.StatusUnprocessableEntity, "65536 characters")
	c.refused(c.do("POST", comments, fields{"body": " \n"}), http.StatusUnprocessableEntity, "blank")
	c.refused(c.do("POST", comments, fields{}), http.StatusUnprocessableEntity, "wasn't supplied")
	c.refused(c.do("POST", comments, nil), http.StatusBadRequest, "JSON object")
	c.refused(c.do("POST", "/repos/acme/shop/issues/9/comments", fields{"body": "x"}), http.StatusNotFound, "Not Found")
	pr.Lock()
	c.refused(c.do("POST", comments, fields{"body": "x"}), http.StatusForbidden, "locked")
	repo.Settings.SetArchived(true)
	c.refused(c.do("POST", comments, fields{"body": "x"}), http.StatusForbidden, "archived")
	// A check can still be written.
	c.want(c.do("POST", "/repos/acme/shop/check-runs", fields{"name": "reviewgate", "head_sha": pr.HeadSHA()}), http.StatusCreated)
	if n := len(pr.AppComments()); n != 1 {
		t.Errorf("%d comments of the App instead of 1", n)
	}
}

func TestCommentLife(t *testing.T) {
	gh, repo, c := shop(t, ghtest.Options{})
	pr := repo.OpenPR(ghtest.PR{Files: ghtest.Files{}})
	said := pr.Comment("alice", "<!-- marker --> mine")
	made := c.do("POST", "/repos/acme/shop/issues/1/comments", fields{"body": "ours"})
	c.want(made, http.StatusCreated)
	if made.field("user", "type") != "Bot" || made.field("performed_via_github_app", "id") != float64(gh.AppID()) {
		t.Errorf("the App's comment doesn't name the App: %s", made.raw)
	}
	path := fmt.Sprintf("/repos/acme/shop/issues/comments/%.0f", made.field("id"))
	c.want(c.do("PATCH", path, fields{"body": "ours, again"}), http.StatusOK)
	if by := c.get("/repos/acme/shop/issues/1/comments").field(0, "performed_via_github_app"); by != nil {
		t.Errorf("alice's comment names the App: %v", by)
	}
	want := []ghtest.Comment{{ID: said.ID, Author: "alice", Body: "<!-- marker --> mine"}, {ID: int64(made.field("id").(float64)), Author: "reviewgate[bot]", Body: "ours, again", Edits: 1}}
	if d := cmp.Diff(want, pr.Comments(), cmpopts.IgnoreFields(ghtest.Comment{}, "CreatedAt", "UpdatedAt")); d != "" {
		t.Errorf("comments (-want +got):\n%s", d)
	}
	settle(t, gh)
	if d := gh.Webhook.LastDelivery("issue_comment"); d.Action != "edited" {
		t.Errorf("the App got no event for its own edit: the last event is %q", d.Action)
	}
	c.want(c.do("DELETE", path, nil), http.StatusNoContent)
	c.refused(c.do("GET", path, nil), http.StatusNotFound, "Not Found")
}

func TestReactions(t *testing.T) {
	_, repo, c := shop(t, ghtest.Options{})
	pr := repo.OpenPR(ghtest.PR{Files: ghtest.Files{}})
	path := fmt.Sprintf("/repos/acme/shop/issues/comments/%d/reactions", pr.Comment("alice", "/review").ID)
	c.want(c.do("POST", path, fields{"content": "eyes"}), http.StatusCreated)
	c.want(c.do("POST", path, fields{"content": "eyes"}), http.StatusOK)
	c.want(c.do("POST", path, fields{"content": "rocket"}), http.StatusCreated)
	c.refused(c.do("POST", path, fields{"content": "sheep"}), http.StatusUnprocessableEntity, "is not a member of")
	if n := c.get(path + "?content=eyes").len(); n != 1 {
		t.Errorf("%d eyes instead of one", n)
	}
	if got := pr.Comments()[0].Reactions; len(got) != 2 || got[1].Content != "rocket" || got[1].User != "reviewgate[bot]" {
		t.Errorf("reactions: %v", got)
	}
}
