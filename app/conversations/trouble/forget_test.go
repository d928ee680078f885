package trouble

import (
	"errors"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/review"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

const day = 24 * time.Hour

// known reports whether the store knows the pull request.
func (w *world) known(pr *ghtest.PullRequest) bool {
	w.Helper()
	_, err := w.App.Inside().Store.Target(w.Context(), w.Key(pr))
	if err != nil && !errors.Is(err, ports.ErrNotFound) {
		w.Fatal(err)
	}
	return err == nil
}

// When an installation is deleted, all its data is deleted, and nothing is posted. A new
// installation starts without data and finds its old comment and check.
func TestUninstalledAndInstalledAgain(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	pr := w.Open(apptest.Tested(ghtest.Files{"store/client.go": apptest.Insecure}))
	w.Idle()
	w.GH.Calls.Reset()
	w.GH.Uninstall("acme")
	gone := w.GH.Webhook.LastDelivery("installation")
	w.Idle()
	if calls := w.GH.Calls.All(); len(calls) > 0 || w.known(pr) {
		t.Errorf("%d calls; the pull request is known: %v", len(calls), w.known(pr))
	}

	w.GH.Install("acme")
	pr.Push(ghtest.Files{"store/b.go": "package store\n"}, "more")
	w.Idle()
	w.Wants(pr, "action_required")
	w.WantsNot(pr, "still open") // nothing from before is known
	runs := len(pr.CheckRuns())
	if _, err := w.GH.Webhook.Redeliver(gone.GUID); err != nil {
		t.Fatal(err)
	}
	w.Idle()
	pr.Comment("alice", "/review")
	w.Idle()
	if n := len(pr.CheckRuns()); !w.known(pr) || n != runs+1 {
		t.Errorf("after a redelivery: known %v, %d check runs, want %d", w.known(pr), n, runs+1)
	}
	if faults := pr.Faults(); len(faults) > 0 {
		t.Error(faults)
	}
}

// The event that a repository was removed arrives after the repository is back.
func TestRemovedAndAdded(t *testing.T) {
	t.Parallel()
	w := start(t)
	pr := w.Open(apptest.Tested(ghtest.Files{"store/client.go": apptest.Insecure}))
	w.Idle()
	w.GH.Webhook.Withhold("installation_repositories")
	w.Repo.Settings.SetInstalled(false)
	removed := w.GH.Webhook.LastDelivery("installation_repositories")
	w.GH.Webhook.Resume()
	w.Repo.Settings.SetInstalled(true)
	w.Idle()
	if _, err := w.GH.Webhook.Redeliver(removed.GUID); err != nil {
		t.Fatal(err)
	}
	w.Idle()
	if !w.known(pr) {
		t.Error("an old event deleted the data")
	}

	w.Repo.Settings.SetInstalled(false)
	w.Idle()
	if w.known(pr) {
		t.Error("the data of a removed repository is still stored")
	}
	w.Repo.Settings.SetInstalled(true)
	w.Idle()
	pr.Push(apptest.Clean(), "fix: verify certificates")
	w.Idle()
	w.Wants(pr, "success")
	if faults := pr.Faults(); len(faults) > 0 {
		t.Error(faults)
	}
}

// The data of a suspended installation stays.
func TestSuspendedIsNotForgotten(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	pr := w.Open(apptest.Tested(ghtest.Files{"store/client.go": apptest.Insecure}))
	w.Idle()
	w.GH.Suspend("acme")
	w.Idle()
	if !w.known(pr) {
		t.Error("the pull request was deleted")
	}
}

// A repository that moves to an account with the App keeps its data.
func TestTransferredIsNotForgotten(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	w.GH.Repo("other/seed")
	pr := w.Open(apptest.Tested(ghtest.Files{"store/client.go": apptest.Insecure}))
	w.Idle()
	w.Repo.Settings.Transfer("other")
	w.Idle()
	pr.Push(ghtest.Files{"store/client.go": apptest.Secure}, "fix: verify certificates")
	w.Idle()
	w.Wants(pr, "success", "1 resolved")
}

// Data that is too old is deleted. A pull request that comes back afterwards is reviewed like
// a new one, with its one comment.
func TestRetention(t *testing.T) {
	t.Parallel()
	w := start(t)
	now := time.Now()
	clock := func() time.Time { return now }
	w.App.Inside().Service.Change(func(o *review.Options) { o.Now, o.Retention = clock, 30*day })
	open := w.Open(apptest.Tested(ghtest.Files{"store/client.go": apptest.Insecure}))
	closed := w.Another("closed", apptest.Client(1, apptest.Insecure))
	w.Idle()
	for range 2 {
		open.Comment("alice", "/review")
		w.Idle()
	}
	closed.Close()
	w.Idle()
	now = now.Add(29 * day)
	w.Work(ports.JobRetention)
	if !w.known(closed) {
		t.Error("the pull request was deleted after 29 days")
	}
	now = now.Add(2 * day)
	w.GH.Calls.Reset()
	w.Work(ports.JobRetention)
	if w.known(closed) || !w.known(open) {
		t.Errorf("after 31 days the closed pull request is stored: %v, and the open one: %v", w.known(closed), w.known(open))
	}
	if calls := w.GH.Calls.All(); len(calls) > 0 {
		t.Errorf("retention costs %d calls", len(calls))
	}
	for generation, want := range map[int64]bool{1: false, 2: false, 3: true} {
		if got, err := w.App.Inside().Store.Published(w.Context(), w.Key(open), generation); err != nil || got != want {
			t.Errorf("review %d of the open pull request is stored: %v, %v", generation, got, err)
		}
	}
	open.Push(ghtest.Files{"store/client.go": apptest.Secure}, "fix: verify certificates")
	closed.Reopen()
	w.Idle()
	w.Wants(open, "success", "1 resolved")
	w.Wants(closed, "action_required")
	for _, pr := range []*ghtest.PullRequest{open, closed} {
		if faults := pr.Faults(); len(faults) > 0 {
			t.Error(faults)
		}
	}
}

// Without a retention setting, nothing is deleted.
func TestRetentionForever(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	pr := w.Open(apptest.Tested(ghtest.Files{"store/client.go": apptest.Insecure}))
	w.Idle()
	pr.Close()
	w.Idle()
	w.App.Inside().Service.Change(func(o *review.Options) { o.Now = func() time.Time { return time.Now().Add(10_000 * day) } })
	w.Work(ports.JobRetention)
	if !w.known(pr) {
		t.Error("the pull request was deleted")
	}
}
