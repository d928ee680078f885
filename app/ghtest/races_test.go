package ghtest_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/reviewgate/reviewgate/app/ghtest"
)

// TestParallelCalls: no call fails or reads what another one writes, which the race detector
// sees.
func TestParallelCalls(t *testing.T) {
	gh, repo, _ := shop(t, ghtest.Options{})
	pr := repo.OpenPR(ghtest.PR{Files: ghtest.Files{"change.txt": "1\n"}})
	pr.Alerts.Analysed(ghtest.Alert{Rule: "a"}, ghtest.Alert{Rule: "b"})
	const rounds = 8
	var toMerge [rounds]*ghtest.PullRequest
	for i := range toMerge {
		toMerge[i] = repo.OpenPR(ghtest.PR{Head: fmt.Sprint("merge-", i), Files: ghtest.Files{fmt.Sprint("merge-", i): "1\n"}})
	}
	var wg sync.WaitGroup
	for _, call := range []func(i int){
		func(i int) { pr.Edit(ghtest.Edit{Title: new(fmt.Sprint("Title ", i))}) },
		func(i int) { repo.Settings.RenameDefaultBranch(fmt.Sprint("main-", i)) },
		func(i int) { repo.Settings.Transfer(fmt.Sprint("owner-", i)) },
		func(i int) { gh.RenameAccount(gh.AppLogin(), fmt.Sprintf("renamed-%d[bot]", i)) },
		func(i int) { gh.RenameAccount("alice", fmt.Sprint("alice-", i)) },
		func(i int) { repo.Settings.SetMergeMethod(ghtest.QueueMerges); repo.MergeGroup(pr) },
		func(i int) { toMerge[i].Merge() },
		func(int) { pr.UpdateBranch("bob") },
		func(i int) { pr.Push(ghtest.Files{"pushed.txt": fmt.Sprintln(i)}, "push") },
		func(int) { pr.Lock() },
		func(int) { pr.Unlock() },
		func(int) { pr.Alerts.Fix(1); pr.Alerts.Dismiss("carol", 2) },
		func(i int) { repo.CommitAs("dave", fmt.Sprint("branch-", i), ghtest.Files{"d": fmt.Sprint(i)}, "add") },
		func(i int) {
			repo.OpenPR(ghtest.PR{Head: fmt.Sprint("pull-", i), Files: ghtest.Files{"p": fmt.Sprint(i)}})
		},
	} {
		wg.Go(func() {
			for i := range rounds {
				call(i)
			}
		})
	}
	wg.Wait()
	for i := range rounds {
		if repo.Branch(fmt.Sprint("branch-", i)) == "" || repo.Branch(fmt.Sprint("pull-", i)) == "" {
			t.Errorf("round %d lacks a branch", i)
		}
	}
}
