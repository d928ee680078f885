package app

import (
	"fmt"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// A merge queue may merge, squash or rebase: what people said of a pull request
// counts in its group all the same, and what they said of one that is in the
// group with it does not pass what nobody said anything of.
func TestMergeGroupByEachMethod(t *testing.T) {
	t.Parallel()
	for _, method := range sample.Of(t, 1, []ghtest.MergeMethod{ghtest.QueueMerges, ghtest.QueueSquashes, ghtest.QueueRebases}) {
		t.Run(string(method), func(t *testing.T) {
			t.Parallel()
			w := start(t)
			w.repo.SetMergeMethod(method)
			g := groups{w}
			bad := g.insecure("Bad")
			worse := g.insecure("Worse")
			clean := w.open(clean())
			w.repo.Commit("main", ghtest.Files{"docs/a.md": "# A\n"}, "meanwhile")
			bad.UpdateBranch()
			w.idle()
			unknown := g.unknown("Unknown")

			g.wants("as it is", w.repo.MergeGroup(bad), "action_required", "1 major")
			w.says(bad, "/review override on fire")
			told := fmt.Sprintf("Passed by hand by carol: pull request %d: on fire", bad.Number)
			g.wants("overridden", w.repo.MergeGroup(bad), "success", told)
			g.wants("before one that is not", w.repo.MergeGroup(bad, worse), "action_required", "2 major")
			g.wants("after one that is not", w.repo.MergeGroup(worse, bad), "action_required", "2 major")
			g.wants("after one that nobody knows", w.repo.MergeGroup(unknown, bad), "action_required", "2 major")

			// Each has a group of its own, on top of the one before.
			first := w.repo.MergeGroup(worse)
			g.wants("first in line", first, "action_required", "1 major")
			g.wants("next in line", first.Next(bad), "success", told)

			w.dismiss(worse, w.only(worse))
			g.wants("dismissed", w.repo.MergeGroup(worse), "success", "")
			w.says(clean, "/review reject not today")
			g.wants("rejected", w.repo.MergeGroup(clean), "failure", "Rejected by hand by carol: ")

			w.away(func() {
				bad.Push(ghtest.Files{"store/later.go": strings.ReplaceAll(insecure, "Client", "Later")}, "feat: later")
			})
			g.wants("pushed to, and no news of it", w.repo.MergeGroup(bad), "action_required", "2 major")
		})
	}
}

type groups struct{ *world }

// insecure opens a pull request of two commits with one finding, and waits for
// its review.
func (g groups) insecure(name string) *ghtest.PullRequest {
	g.Helper()
	path := "store/" + strings.ToLower(name)
	pr := g.another(strings.ToLower(name), ghtest.Files{path + ".go": strings.ReplaceAll(insecure, "Client", name), path + "_test.go": "package store\n"})
	pr.Push(ghtest.Files{path + "_more.go": "package store\n\nvar " + name + "s int\n", path + "_more_test.go": "package store\n"}, "feat: more of it")
	g.idle()
	return pr
}

// unknown opens one of which the App gets no news.
func (g groups) unknown(name string) (pr *ghtest.PullRequest) {
	g.Helper()
	g.away(func() {
		pr = g.another(strings.ToLower(name), ghtest.Files{"store/unknown.go": strings.ReplaceAll(insecure, "Client", name)})
	})
	return pr
}

func (g groups) wants(what string, group *ghtest.MergeGroup, conclusion, told string) {
	g.Helper()
	g.idle()
	if c := g.newest(group.CheckRuns()); c.Conclusion != conclusion || !strings.Contains(c.Title+c.Summary, told) {
		g.Errorf("%s: the group's check is %s (%s), want %s with %q:\n%s", what, c.Conclusion, c.Title, conclusion, told, c.Summary)
	}
}
