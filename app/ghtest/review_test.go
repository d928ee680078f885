package ghtest_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/app/ghtest"
)

func TestReviewComments(t *testing.T) {
	_, repo, c := shop(t, ghtest.Options{})
	pr := repo.OpenPR(ghtest.PR{Files: ghtest.Files{"src/cart.go": "package cart\n"}})
	said := pr.Reviews.Comment("bob", "src/cart.go", 1, "Why?")
	talked := pr.Comment("bob", "Hm.")

	reactions := "/repos/acme/shop/pulls/comments/%d/reactions"
	c.want(c.do("POST", fmt.Sprintf(reactions, said.ID), fields{"content": "eyes"}), http.StatusCreated)
	c.want(c.do("POST", fmt.Sprintf(reactions, said.ID), fields{"content": "eyes"}), http.StatusOK)
	// Each kind of comment has its own routes.
	c.refused(c.do("POST", fmt.Sprintf(reactions, talked.ID), fields{"content": "eyes"}), http.StatusNotFound, "Not Found")
	c.refused(c.do("POST", fmt.Sprintf("/repos/acme/shop/issues/comments/%d/reactions", said.ID), fields{"content": "eyes"}), http.StatusNotFound, "Not Found")

	var got []string
	for _, r := range pr.Reviews.Comments()[0].Reactions {
		got = append(got, r.User+" "+r.Content)
	}
	if diff := cmp.Diff([]string{"reviewgate[bot] eyes"}, got); diff != "" {
		t.Errorf("reactions (-want +got):\n%s", diff)
	}
	if n := len(pr.Comments()); n != 1 {
		t.Errorf("%d comments in the conversation, want only the one that is not on a line", n)
	}
}

func TestTeamMembership(t *testing.T) {
	permissions := ghtest.DefaultPermissions()
	permissions["members"] = "read"
	gh, _, c := shop(t, ghtest.Options{Permissions: permissions})
	gh.Team("acme", "owners", "alice")
	gh.InviteToTeam("acme", "owners", "bob")
	gh.Team("widgets", "owners", "alice")
	for path, want := range map[string]string{
		"acme/teams/owners/memberships/Alice": "active", "acme/teams/owners/memberships/bob": "pending",
		"acme/teams/owners/memberships/carol": "", "acme/teams/cooks/memberships/alice": "", "widgets/teams/owners/memberships/alice": "",
	} {
		r := c.do("GET", "/orgs/"+path, nil)
		if want == "" {
			c.refused(r, http.StatusNotFound, "Not Found")
		} else if r.field("state") != want {
			t.Errorf("%s: %s, want %s", path, r.raw, want)
		}
	}
}

func TestTeamMembershipNeedsItsPermission(t *testing.T) {
	gh, _, c := shop(t, ghtest.Options{})
	gh.Team("acme", "owners", "alice")
	c.refused(c.do("GET", "/orgs/acme/teams/owners/memberships/alice", nil), http.StatusForbidden, "not accessible by integration")
}

// A review by the App changes its state under GitHub's rules.
func TestReviewStates(t *testing.T) {
	_, repo, c := shop(t, ghtest.Options{})
	pr := repo.OpenPR(ghtest.PR{Files: ghtest.Files{"src/cart.go": "package cart\n"}})
	reviews := "/repos/acme/shop/pulls/1/reviews"
	first := pr.HeadSHA()
	pr.Push(ghtest.Files{"src/cart.go": "package cart // more\n"}, "more")

	c.refused(c.do("POST", reviews, fields{"event": "REQUEST_CHANGES", "body": " "}), http.StatusUnprocessableEntity, "Body can't be blank")
	c.refused(c.do("POST", reviews, fields{"event": "APPROVE", "commit_id": repo.Branch("main")}), http.StatusUnprocessableEntity, "not part of the pull request")
	c.refused(c.do("POST", reviews, fields{"event": "LOVE"}), http.StatusUnprocessableEntity, "Invalid request")
	// An older head can be approved after a push, and the review stays with that head.
	made := c.do("POST", reviews, fields{"event": "APPROVE", "body": "Good.", "commit_id": first})
	c.want(made, http.StatusOK)
	if made.field("state") != "APPROVED" || made.field("commit_id") != first {
		t.Errorf("created %s", made.raw)
	}
	dismissal := fmt.Sprintf("%s/%.0f/dismissals", reviews, made.field("id"))
	c.refused(c.do("PUT", dismissal, fields{"message": " "}), http.StatusUnprocessableEntity, "Message can't be blank")
	c.refused(c.do("PUT", dismissal, fields{}), http.StatusUnprocessableEntity, "message")
	c.want(c.do("PUT", dismissal, fields{"message": "Pushed to."}), http.StatusOK)
	c.refused(c.do("PUT", dismissal, fields{"message": "Again."}), http.StatusUnprocessableEntity, "Can not dismiss a dismissed")
	c.refused(c.do("PUT", reviews+"/7/dismissals", fields{"message": "None."}), http.StatusNotFound, "Not Found")
	if got := pr.Reviews.OfApp(); len(got) != 1 || got[0].State != "dismissed" || got[0].Dismissal != "Pushed to." {
		t.Errorf("reviews %+v", got)
	}
	pr.Lock()
	c.refused(c.do("POST", reviews, fields{"event": "APPROVE"}), http.StatusUnprocessableEntity, "lock prevents review")
	repo.Settings.SetArchived(true)
	c.refused(c.do("POST", reviews, fields{"event": "APPROVE"}), http.StatusForbidden, "archived")
}

func TestNobodyReviewsTheirOwn(t *testing.T) {
	gh, repo, c := shop(t, ghtest.Options{})
	repo.OpenPR(ghtest.PR{Author: gh.AppLogin(), Files: ghtest.Files{"src/cart.go": "package cart\n"}})
	c.refused(c.do("POST", "/repos/acme/shop/pulls/1/reviews", fields{"event": "APPROVE"}), http.StatusUnprocessableEntity, "Can not approve your own pull request")
	c.refused(c.do("POST", "/repos/acme/shop/pulls/1/reviews", fields{"event": "REQUEST_CHANGES", "body": "No."}), http.StatusUnprocessableEntity, "on your own pull request")
}

// A requested reviewer stays requested until they have reviewed. A request adds all of its
// reviewers or none.
func TestRequestedReviewers(t *testing.T) {
	gh, repo, c := shop(t, ghtest.Options{})
	repo.Grant("bob", "read")
	gh.Team("acme", "owners", "alice")
	pr := repo.OpenPR(ghtest.PR{Author: "alice", Files: ghtest.Files{"src/cart.go": "package cart\n"}})
	asked := "/repos/acme/shop/pulls/1/requested_reviewers"
	for who, reason := range map[string]string{"alice": "pull request author", "mallory": "only be requested from collaborators"} {
		c.refused(c.do("POST", asked, fields{"reviewers": []string{"bob", who}}), http.StatusUnprocessableEntity, reason)
	}
	c.refused(c.do("POST", asked, fields{"team_reviewers": []string{"cooks"}}), http.StatusUnprocessableEntity, "only be requested from collaborators")
	if got := pr.Reviews.Requested(); len(got) != 0 {
		t.Errorf("requested %v", got)
	}
	for range 2 {
		c.want(c.do("POST", asked, fields{"reviewers": []string{"Bob"}, "team_reviewers": []string{"owners"}}), http.StatusCreated)
	}
	if diff := cmp.Diff([]string{"bob", "acme/owners"}, pr.Reviews.Requested()); diff != "" {
		t.Errorf("requested (-want +got):\n%s", diff)
	}
	pr.Reviews.Submit("bob", "commented", "Hm.")
	if r := c.get("/repos/acme/shop/pulls/1"); len(pr.Reviews.Requested()) != 1 || r.field("requested_teams", 0, "slug") != "owners" {
		t.Errorf("after a review: %v", pr.Reviews.Requested())
	}
}

func TestReviewsNeedTheirPermission(t *testing.T) {
	permissions := ghtest.DefaultPermissions()
	permissions["pull_requests"] = "read"
	_, repo, c := shop(t, ghtest.Options{Permissions: permissions})
	repo.OpenPR(ghtest.PR{Files: ghtest.Files{"src/cart.go": "package cart\n"}})
	c.refused(c.do("POST", "/repos/acme/shop/pulls/1/reviews", fields{"event": "APPROVE"}), http.StatusForbidden, "not accessible by integration")
	c.want(c.do("GET", "/repos/acme/shop/pulls/1/reviews", nil), http.StatusOK)
}
