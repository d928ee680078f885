package gh

import (
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
)

// history answers for a pull request of many commits, whose list ends after 250 commits, and
// for a comparison, which lists all of them.
func history(total int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		page, _ := strconv.Atoi(r.URL.Query().Get("page"))
		from, most := max(page-1, 0)*perPage, total
		if strings.HasSuffix(r.URL.Path, "/commits") {
			most = min(total, maxPullCommits)
		}
		list := []map[string]any{}
		for i := from; i < min(from+perPage, most); i++ {
			list = append(list, map[string]any{"sha": fmt.Sprintf("%040x", i), "commit": map[string]any{
				"message": "m", "author": map[string]any{"name": "A. Name"}, "verification": map[string]any{"verified": true},
			}})
		}
		last := (most + perPage - 1) / perPage
		w.Header().Set("Link", fmt.Sprintf(`<http://x/?page=%d>; rel="last"`, last))
		switch {
		case strings.HasSuffix(r.URL.Path, "/commits"):
			send(w, 200, list)
		case strings.Contains(r.URL.Path, "/compare/"):
			send(w, 200, map[string]any{"total_commits": total, "commits": list, "files": []any{}, "merge_base_commit": map[string]string{"sha": "a"}})
		default:
			p := maps.Clone(openPull)
			p["commits"] = total
			send(w, 200, p)
		}
	}
}

func TestCommitsAreListedInOrder(t *testing.T) {
	missing := []pipeline.Incompleteness{{What: "commits", Why: "1000 of 9000 commits are listed"}}
	group := pullTarget
	group.Kind, group.BaseSHA, group.HeadSHA = ports.TargetGroup, strings.Repeat("a", 40), strings.Repeat("b", 40)
	for _, target := range []ports.Target{pullTarget, group} {
		for total, want := range map[int][]pipeline.Incompleteness{1: nil, 100: nil, 101: nil, 250: nil, 251: nil, 1000: nil, 9000: missing} {
			t.Run(fmt.Sprint(target.Kind, " of ", total), func(t *testing.T) {
				s := newStub(t, history(total))
				got, err := s.client(t, nil).Source(target).Commits(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, got.Incomplete); diff != "" {
					t.Errorf("incomplete (-want +got):\n%s", diff)
				}
				if len(got.Commits) != min(total, maxCommits) {
					t.Fatalf("%d commits", len(got.Commits))
				}
				for i, c := range got.Commits {
					if want := (pipeline.Commit{SHA: fmt.Sprintf("%040x", i), Message: "m", Author: "A. Name", Verified: true}); c != want {
						t.Fatalf("commit %d is %+v", i, c)
					}
				}
			})
		}
	}
}
