package pulls

import (
	"fmt"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// A merge queue may merge, squash or rebase. A person's decision about a pull request counts
// in its group in any case. A decision about one pull request does not pass another one in
// the same group.
func TestMergeGroupByEachMethod(t *testing.T) {
	t.Parallel()
	for _, method := range sample.Of(t, 1, []ghtest.MergeMethod{ghtest.QueueMerges, ghtest.QueueSquashes, ghtest.QueueRebases}) {
		t.Run(string(method), func(t *testing.T) {
			t.Parallel()
			w := start(t)
			w.Repo.Settings.SetMergeMethod(method)
			g := groups{w}
			bad := g.insecure("Bad")
			worse := g.insecure("Worse")
			clean := w.Open(apptest.Clean())
			w.Repo.Commit("main", ghtest.Files{"docs/a.md": "# A\n"}, "meanwhile")
			bad.UpdateBranch("alice")
			w.Idle()
			unknown := g.unknown("Unknown")

			g.wants("as it is", w.Repo.MergeGroup(bad), "action_required", "1 major")
			w.Says(bad, "/review override on fire")
			told := fmt.Sprintf("Passed by hand by carol: pull request %d: on fire", bad.Number)
			g.wants("overridden", w.Repo.MergeGroup(bad), "success", told)
			g.wants("before one that is not", w.Repo.MergeGroup(bad, worse), "action_required", "2 major")
			g.wants("after one that is not", w.Repo.MergeGroup(worse, bad), "action_required", "2 major")
			g.wants("after one that nobody knows", w.Repo.MergeGroup(unknown, bad), "action_required", "2 major")

			// Each pull request has its own group, on top of the one before.
			first := w.Repo.MergeGroup(worse)
			g.wants("first in line", first, "action_required", "1 major")
			g.wants("next in line", first.Next(bad), "success", told)

			w.Dismiss(worse, w.Only(worse))
			g.wants("dismissed", w.Repo.MergeGroup(worse), "success", "")
			w.Says(clean, "/review reject not today")
			g.wants("rejected", w.Repo.MergeGroup(clean), "failure", "Rejected by hand by carol: ")

			w.Away(func() {
				bad.Push(ghtest.Files{"store/later.go": strings.ReplaceAll(apptest.Insecure, "Client", "Later")}, "feat: later")
			})
			g.wants("pushed to, and no news of it", w.Repo.MergeGroup(bad), "action_required", "2 major")
		})
	}
}

type groups struct{ *world }

// insecure opens a pull request of two commits with one finding, and waits for its review.
func (g groups) insecure(name string) *ghtest.PullRequest {
	g.Helper()
	path := "store/" + strings.ToLower(name)
	pr := g.Another(strings.ToLower(name), ghtest.Files{path + ".go": strings.ReplaceAll(apptest.Insecure, "Client", name), path + "_test.go": "package store\n"})
	pr.Push(ghtest.Files{path + "_more.go": "package store\n\nvar " + name + "s int\n", path + "_more_test.go": "package store\n"}, "feat: more of it")
	g.Idle()
	return pr
}

// unknown opens a pull request whose events never reach the App.
func (g groups) unknown(name string) (pr *ghtest.PullRequest) {
	g.Helper()
	g.Away(func() {
		pr = g.Another(strings.ToLower(name), ghtest.Files{"store/unknown.go": strings.ReplaceAll(apptest.Insecure, "Client", name)})
	})
	return pr
}

func (g groups) wants(what string, group *ghtest.MergeGroup, conclusion, told string) {
	g.Helper()
	g.Idle()
	if c := g.Newest(group.CheckRuns()); c.Conclusion != conclusion || !strings.Contains(c.Title+c.Summary, told) {
		g.Errorf("%s: the group's check is %s (%s), want %s with %q:\n%s", what, c.Conclusion, c.Title, conclusion, told, c.Summary)
	}
}
