package app

import (
	"testing"

	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/app/internal/store/pgtest"
)

// replicas is a world with two Apps on one PostgreSQL. Webhooks go to the
// first until told otherwise.
func replicas(t *testing.T) (w *world, toFirst, toSecond func()) {
	t.Helper()
	w = startWith(t, ghtest.Options{WebhookSecret: secret}, func(w *world) { w.db = pgtest.CopyURL(t, createTables) })
	first, stopFirst := w.app, w.stop
	w.run()
	second, stopSecond := w.app, w.stop
	w.stop = func() error {
		if err := stopSecond(); err != nil {
			return err
		}
		return stopFirst()
	}
	toFirst = func() { w.gh.SetWebhook("http://"+first.Addr()+HookPath, secret) }
	toSecond = func() { w.gh.SetWebhook("http://"+second.Addr()+HookPath, secret) }
	toFirst()
	return w, toFirst, toSecond
}

// A push that one replica takes in stops the run of the other.
func TestNewerHeadTakenInByAnotherReplica(t *testing.T) {
	t.Parallel()
	w, _, toSecond := replicas(t)
	came, letGo := w.held(routeFiles, "pull_number", "1")
	pr := w.open(ghtest.Files{"store/client.go": insecure})
	<-came
	old := pr.HeadSHA()
	w.until("the check is open", func() bool { return len(pr.CheckRuns()) == 1 })
	toSecond()
	pr.Push(ghtest.Files{"store/client.go": secure, "store/client_test.go": "package store\n"}, "fix")
	<-came // the new head's run has begun, so the old one's was stopped
	letGo()
	w.idle()
	w.wants(pr, "success")
	if c := w.newest(w.repo.CheckRuns(old)); c.Conclusion != "cancelled" {
		t.Errorf("the old head's check is %s, want cancelled", c.Conclusion)
	}
}

// The same delivery at both replicas is reviewed once.
func TestSameDeliveryAtBothReplicas(t *testing.T) {
	t.Parallel()
	w, _, toSecond := replicas(t)
	pr := w.open(clean())
	toSecond()
	if _, err := w.gh.Redeliver(w.gh.LastDelivery("pull_request").GUID); err != nil {
		t.Fatal(err)
	}
	w.idle()
	w.wants(pr, "success")
	if runs := pr.CheckRuns(); len(runs) != 1 {
		t.Errorf("%d check runs, want 1", len(runs))
	}
}

// A command that one replica takes in during the other's run is obeyed after
// it, once.
func TestCommandAtAnotherReplicaDuringReview(t *testing.T) {
	t.Parallel()
	w, _, toSecond := replicas(t)
	came, letGo := w.held(routeFiles, "pull_number", "1")
	pr := w.open(clean())
	<-came
	toSecond()
	said := pr.Comment("alice", "/review")
	letGo()
	w.idle()
	w.wants(pr, "success")
	if runs := pr.CheckRuns(); len(runs) != 2 {
		t.Errorf("%d check runs, want one for the push and one for the command", len(runs))
	}
	if got := w.reactions(pr, said.ID); len(got) != 2 {
		t.Errorf("reactions %v, want eyes and rocket", got)
	}
}
