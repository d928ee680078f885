package pulls

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/ghtest"
)

// An author who uses up most of GitHub's calls waits until the next hour, and the check says
// so. Other authors' pull requests are reviewed meanwhile.
func TestAuthorLeavesCallsToOthers(t *testing.T) {
	t.Parallel()
	w := startWith(t, small(func(l *ghtest.Limits) { l.RequestsPerHour, l.PointsPerMinute, l.CreationsPerMinute = 300, 10_000, 1000 }))
	waits := func(pr *ghtest.PullRequest) bool {
		runs := pr.CheckRuns()
		return len(runs) > 0 && strings.HasPrefix(runs[len(runs)-1].Title, "Waits for GitHub's rate limit until ")
	}
	until := func(done func() bool) error {
		ctx, cancel := context.WithTimeout(t.Context(), apptest.Patience)
		defer cancel()
		return w.GH.WaitFor(ctx, done)
	}
	ask := func(author string, n int) *ghtest.PullRequest {
		head := fmt.Sprint(author, n)
		return w.Repo.OpenPR(ghtest.PR{Title: "feat: stock", Body: apptest.GoodBody, Head: head, Author: author, Files: ghtest.Files{head + "/a_test.go": "package a\n"}})
	}
	open := func(author string, n int) *ghtest.PullRequest {
		pr := ask(author, n)
		if err := until(func() bool {
			runs := pr.CheckRuns()
			return waits(pr) || len(runs) > 0 && runs[len(runs)-1].Completed()
		}); err != nil {
			t.Fatalf("no answer: %v: %+v", err, pr.CheckRuns())
		}
		return pr
	}
	w.Repo.Commit("old", ghtest.Files{"OLD": "x\n"}, "old")
	open("alice", 1)
	first := open("mallory", 0)
	if !apptest.Satisfies(w.Check(first).Conclusion) {
		t.Fatalf("the first check is %+v", w.Check(first))
	}
	n := 1
	for !waits(open("mallory", n)) {
		if n++; n == 60 {
			t.Fatalf("after %d calls no pull request waits", len(w.GH.Calls.All()))
		}
	}
	if used := len(w.GH.Calls.All()); n < 3 || used > 250 {
		t.Errorf("the author waits after %d pull requests and %d calls of all", n, used)
	}
	if c := w.Check(open("alice", 2)); !apptest.Satisfies(c.Conclusion) {
		t.Errorf("the other's check is %q (%s)", c.Conclusion, c.Title)
	}
	if pr := open("mallory", 99); !waits(pr) {
		t.Errorf("the author's next check is %q (%s)", w.Check(pr).Conclusion, w.Check(pr).Title)
	}
	// A check that passed against main does not pass against another base. That holds even
	// after the author has as many waiting checks as the App writes.
	var more []*ghtest.PullRequest
	for n := range 25 {
		more = append(more, ask("mallory", 100+n))
	}
	const told = 20 - 3 // the pull requests above have the others
	if err := until(func() bool {
		return len(slices.DeleteFunc(slices.Clone(more), func(pr *ghtest.PullRequest) bool { return !waits(pr) })) >= told
	}); err != nil {
		t.Fatal(err)
	}
	old := "old"
	first.Edit(ghtest.Edit{Base: &old})
	if err := until(func() bool {
		runs := first.CheckRuns()
		return !runs[len(runs)-1].Completed()
	}); err != nil {
		t.Errorf("an old check answers for another base: %+v", first.CheckRuns())
	}
}
