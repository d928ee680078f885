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
	said := pr.ReviewComment("bob", "src/cart.go", 1, "Why?")
	talked := pr.Comment("bob", "Hm.")

	reactions := "/repos/acme/shop/pulls/comments/%d/reactions"
	c.want(c.do("POST", fmt.Sprintf(reactions, said.ID), fields{"content": "eyes"}), http.StatusCreated)
	c.want(c.do("POST", fmt.Sprintf(reactions, said.ID), fields{"content": "eyes"}), http.StatusOK)
	// Each kind of comment has routes of its own.
	c.refused(c.do("POST", fmt.Sprintf(reactions, talked.ID), fields{"content": "eyes"}), http.StatusNotFound, "Not Found")
	c.refused(c.do("POST", fmt.Sprintf("/repos/acme/shop/issues/comments/%d/reactions", said.ID), fields{"content": "eyes"}), http.StatusNotFound, "Not Found")

	var got []string
	for _, r := range pr.ReviewComments()[0].Reactions {
		got = append(got, r.User+" "+r.Content)
	}
	if diff := cmp.Diff([]string{"reviewgate[bot] eyes"}, got); diff != "" {
		t.Errorf("reactions (-want +got):\n%s", diff)
	}
	if n := len(pr.Comments()); n != 1 {
		t.Errorf("%d comments in the conversation, want the one that is not on a line", n)
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
