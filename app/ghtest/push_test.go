package ghtest_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/app/ghtest"
)

// TestPushesListTheirFiles: a push lists its commits, oldest first, with the files that each
// changed.
func TestPushesListTheirFiles(t *testing.T) {
	gh, repo, _ := shop(t, ghtest.Options{Events: []string{"push"}})
	type commit struct {
		ID                       string
		Added, Removed, Modified []string
	}
	type push struct {
		Ref, After               string
		Created, Deleted, Forced bool
		Commits                  []commit
	}
	last := func() push {
		var p push
		if err := json.Unmarshal(gh.Webhook.LastDelivery("push").Payload, &p); err != nil {
			t.Fatal(err)
		}
		return p
	}
	none := []string{}

	one := repo.Commit("main", ghtest.Files{"src/cart.go": "package cart // twice\n", "a/b": "1", "README.md": ghtest.Gone}, "more")
	if diff := cmp.Diff(push{Ref: "refs/heads/main", After: one, Commits: []commit{{one, []string{"a/b"}, []string{"README.md"}, []string{"src/cart.go"}}}}, last()); diff != "" {
		t.Errorf("a push of one commit (-want +got):\n%s", diff)
	}
	moved := repo.Commit("main", ghtest.Files{"a/c": ghtest.MovedFrom("a/b")}, "move")
	if diff := cmp.Diff([]commit{{moved, []string{"a/c"}, []string{"a/b"}, none}}, last().Commits); diff != "" {
		t.Errorf("a rename (-want +got):\n%s", diff)
	}
	repo.Commit("fresh", ghtest.Files{"f": "1"}, "branch off")
	if p := last(); !p.Created {
		t.Errorf("a new branch: %+v", p)
	}
	pr := repo.OpenPR(ghtest.PR{Files: ghtest.Files{"new": "1"}})
	first := pr.HeadSHA()
	second := pr.Push(ghtest.Files{"new": "2"}, "again")
	merged := pr.Merge()
	want := push{Ref: "refs/heads/main", After: merged, Commits: []commit{
		{first, []string{"new"}, none, none}, {second, none, none, []string{"new"}}, {merged, []string{"new"}, none, none},
	}}
	if diff := cmp.Diff(want, last()); diff != "" {
		t.Errorf("a merge (-want +got):\n%s", diff)
	}
	repo.PushTag("alice", "v1", merged)
	if p := last(); p.Ref != "refs/tags/v1" || !p.Created || len(p.Commits) != 0 {
		t.Errorf("a tag: %+v", p)
	}
	repo.DeleteBranch("alice", "change")
	if p := last(); p.Ref != "refs/heads/change" || !p.Deleted || repo.Branch("change") != "" {
		t.Errorf("a deleted branch: %+v", p)
	}
}
