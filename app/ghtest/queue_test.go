package ghtest_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/app/ghtest"
)

// A merge queue's groups contain the same change with every merge method, but in different
// commits.
func TestMergeMethods(t *testing.T) {
	for method, want := range map[ghtest.MergeMethod][]string{
		ghtest.QueueMerges:   {"Add a", "more of a", "Merge branch 'main' into a", "Merge pull request #1 from a\n\nAdd a", "Add b", "Merge pull request #2 from b\n\nAdd b"},
		ghtest.QueueSquashes: {"Add a (#1)", "Add b (#2)"},
		ghtest.QueueRebases:  {"Add a", "more of a", "Add b"},
	} {
		t.Run(string(method), func(t *testing.T) {
			t.Parallel()
			_, repo, c := shop(t, ghtest.Options{})
			a := repo.OpenPR(ghtest.PR{Title: "Add a", Head: "a", Files: ghtest.Files{"a": "1\n"}})
			a.Push(ghtest.Files{"a": "1\n2\n"}, "more of a")
			b := repo.OpenPR(ghtest.PR{Title: "Add b", Head: "b", Files: ghtest.Files{"b": "1\n"}})
			repo.Commit("main", ghtest.Files{"c": "1\n"}, "meanwhile")
			a.UpdateBranch("alice")
			repo.Settings.SetMergeMethod(method)
			read := func(base, head string) (messages, files []string) {
				diff := c.get(fmt.Sprintf("/repos/acme/shop/compare/%s...%s", base, head))
				for _, x := range diff.field("commits").([]any) {
					messages = append(messages, x.(map[string]any)["commit"].(map[string]any)["message"].(string))
				}
				for _, x := range diff.field("files").([]any) {
					f := x.(map[string]any)
					files = append(files, fmt.Sprint(f["filename"], f["additions"]))
				}
				return messages, files
			}
			g := repo.MergeGroup(a, b)
			messages, files := read(g.BaseSHA, g.HeadSHA)
			if d := cmp.Diff(want, messages); d != "" {
				t.Errorf("commits (-want +got):\n%s", d)
			}
			if d := cmp.Diff([]string{"a2", "b1"}, files); d != "" {
				t.Errorf("files (-want +got):\n%s", d)
			}

			first := repo.MergeGroup(a)
			next := first.Next(b)
			messages, files = read(next.BaseSHA, next.HeadSHA)
			if next.BaseSHA != first.HeadSHA || !slices.Equal(files, []string{"b1"}) || !slices.Contains(messages, want[len(want)-1]) {
				t.Errorf("the next group, on %s: %q, %q", next.BaseSHA, messages, files)
			}
		})
	}
}
