package pulls

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/ghtest"
)

// An author who uses up most of GitHub's calls waits for the next hour, and the check
// says so. Others' pull requests are reviewed meanwhile.
func TestAuthorLeavesCallsToOthers(t *testing.T) {
	t.Parallel()
	w := startWith(t, small(func(l *ghtest.Limits) { l.RequestsPerHour = 300 }))
	waits := func(pr *ghtest.PullRequest) bool {
		runs := pr.CheckRuns()
		return len(runs) > 0 && strings.HasPrefix(runs[len(runs)-1].Title, "Waits for GitHub's rate limit until ")
	}
	ctx, cancel := context.WithTimeout(t.Context(), apptest.Patience)
	defer cancel()
	open := func(author string, n int) *ghtest.PullRequest {
		head := fmt.Sprint(author, n)
		pr := w.Repo.OpenPR(ghtest.PR{Title: "feat: stock", Body: apptest.GoodBody, Head: head, Author: author, Files: ghtest.Files{head + "/a_test.go": "package a\n"}})
		if err := w.GH.WaitFor(ctx, func() bool {
			runs := pr.CheckRuns()
			return waits(pr) || len(runs) > 0 && runs[len(runs)-1].Completed()
		}); err != nil {
			t.Fatalf("no answer: %v: %+v", err, pr.CheckRuns())
		}
		return pr
	}
	open("alice", 1)
	n := 0
	for !waits(open("mallory", n)) {
		if n++; n == 30 {
			t.Fatalf("after %d calls nothing waits", len(w.GH.Calls()))
		}
	}
	if used := len(w.GH.Calls()); n < 3 || used > 250 {
		t.Errorf("the author waits after %d pull requests and %d calls of all", n, used)
	}
	if c := w.Check(open("alice", 2)); !apptest.Satisfies(c.Conclusion) {
		t.Errorf("the other's check is %q (%s)", c.Conclusion, c.Title)
	}
	if pr := open("mallory", 99); !waits(pr) {
		t.Errorf("the author's next check is %q (%s)", w.Check(pr).Conclusion, w.Check(pr).Title)
	}
}
