package app

import (
	"errors"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/app/review"
)

// key is the pull request's in the store.
func (w *world) key(pr *ghtest.PullRequest) string {
	return review.Target{Kind: review.TargetPull, RepoID: w.repo.ID(), Number: pr.Number}.Key()
}

// known reports whether the store knows the pull request.
func (w *world) known(pr *ghtest.PullRequest) bool {
	w.Helper()
	_, err := w.app.Inside().Store.Target(w.Context(), w.key(pr))
	if err != nil && !errors.Is(err, review.ErrNotFound) {
		w.Fatal(err)
	}
	return err == nil
}

// An installation that is deleted takes all with it, and says nothing; one that
// is made anew begins anew, and finds its comment and check again.
func TestUninstalledAndInstalledAnew(t *testing.T) {
	t.Parallel()
	w := start(t)
	pr := w.open(tested(ghtest.Files{"store/client.go": insecure}))
	w.idle()
	w.gh.ResetCalls()
	w.gh.Uninstall("acme")
	gone := w.gh.LastDelivery("installation")
	w.idle()
	if calls := w.gh.Calls(); len(calls) > 0 || w.known(pr) {
		t.Errorf("%d calls; the pull request is known: %v", len(calls), w.known(pr))
	}

	w.gh.Install("acme")
	pr.Push(ghtest.Files{"store/b.go": "package store\n"}, "more")
	w.idle()
	w.wants(pr, "action_required")
	w.wantsNot(pr, "still open") // nothing is known of before
	runs := len(pr.CheckRuns())
	if _, err := w.gh.Redeliver(gone.GUID); err != nil {
		t.Fatal(err)
	}
	w.idle()
	pr.Comment("alice", "/review")
	w.idle()
	if n := len(pr.CheckRuns()); !w.known(pr) || n != runs+1 {
		t.Errorf("after a redelivery: known %v, %d check runs, want %d", w.known(pr), n, runs+1)
	}
	if faults := pr.Faults(); len(faults) > 0 {
		t.Error(faults)
	}
}

// The news that a repository is gone comes after it is back.
func TestRemovedAndAdded(t *testing.T) {
	t.Parallel()
	w := start(t)
	pr := w.open(tested(ghtest.Files{"store/client.go": insecure}))
	w.idle()
	w.gh.Withhold("installation_repositories")
	w.repo.SetInstalled(false)
	removed := w.gh.LastDelivery("installation_repositories")
	w.gh.Resume()
	w.repo.SetInstalled(true)
	w.idle()
	if _, err := w.gh.Redeliver(removed.GUID); err != nil {
		t.Fatal(err)
	}
	w.idle()
	if !w.known(pr) {
		t.Error("old news deleted what is known")
	}

	w.repo.SetInstalled(false)
	w.idle()
	if w.known(pr) {
		t.Error("known of a repository that was removed")
	}
	w.repo.SetInstalled(true)
	w.idle()
	pr.Push(clean(), "fix: verify certificates")
	w.idle()
	w.wants(pr, "success")
	if faults := pr.Faults(); len(faults) > 0 {
		t.Error(faults)
	}
}

// A suspended installation keeps all.
func TestSuspendedIsNotForgotten(t *testing.T) {
	t.Parallel()
	w := start(t)
	pr := w.open(tested(ghtest.Files{"store/client.go": insecure}))
	w.idle()
	w.gh.Suspend("acme")
	w.idle()
	if !w.known(pr) {
		t.Error("forgotten")
	}
}

// Of a repository that was transferred to an account with the App, what is known
// stays with it.
func TestTransferredIsNotForgotten(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.gh.Repo("other/seed")
	pr := w.open(tested(ghtest.Files{"store/client.go": insecure}))
	w.idle()
	w.repo.Transfer("other")
	w.idle()
	pr.Push(ghtest.Files{"store/client.go": secure}, "fix: verify certificates")
	w.idle()
	w.wants(pr, "success", "1 resolved")
}

// What is too old goes, and a pull request that comes back after that is
// reviewed as one that was never seen, with its one comment.
func TestRetention(t *testing.T) {
	t.Parallel()
	w := start(t)
	now := time.Now()
	clock := func() time.Time { return now }
	w.app.Inside().Service.Now, w.app.Inside().Service.Retention = clock, 30*day
	open := w.open(tested(ghtest.Files{"store/client.go": insecure}))
	closed := w.another("closed", client(1, insecure))
	w.idle()
	for range 2 {
		open.Comment("alice", "/review")
		w.idle()
	}
	closed.Close()
	w.idle()
	now = now.Add(29 * day)
	w.work(review.JobRetention)
	if !w.known(closed) {
		t.Error("forgotten after 29 days")
	}
	now = now.Add(2 * day)
	w.gh.ResetCalls()
	w.work(review.JobRetention)
	if w.known(closed) || !w.known(open) {
		t.Errorf("after 31 days known: %v, and the open one %v", w.known(closed), w.known(open))
	}
	if calls := w.gh.Calls(); len(calls) > 0 {
		t.Errorf("it costs %d calls", len(calls))
	}
	for generation, want := range map[int64]bool{1: false, 2: false, 3: true} {
		if got, err := w.app.Inside().Store.Published(w.Context(), w.key(open), generation); err != nil || got != want {
			t.Errorf("review %d of the open one is there: %v, %v", generation, got, err)
		}
	}
	open.Push(ghtest.Files{"store/client.go": secure}, "fix: verify certificates")
	closed.Reopen()
	w.idle()
	w.wants(open, "success", "1 resolved")
	w.wants(closed, "action_required")
	for _, pr := range []*ghtest.PullRequest{open, closed} {
		if faults := pr.Faults(); len(faults) > 0 {
			t.Error(faults)
		}
	}
}

// With nothing set to be deleted, nothing is.
func TestRetentionForEver(t *testing.T) {
	t.Parallel()
	w := start(t)
	pr := w.open(tested(ghtest.Files{"store/client.go": insecure}))
	w.idle()
	pr.Close()
	w.idle()
	w.app.Inside().Service.Now = func() time.Time { return time.Now().Add(10_000 * day) }
	w.work(review.JobRetention)
	if !w.known(pr) {
		t.Error("forgotten")
	}
}
