package trouble

import (
	"testing"

	"github.com/reviewgate/reviewgate/app"
	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/app/internal/store/pgtest"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// replicas is a world with two Apps on one PostgreSQL. Webhooks go to the first one unless a
// test changes that.
func replicas(t *testing.T) (w *world, toFirst, toSecond func()) {
	t.Helper()
	w = startWith(t, ghtest.Options{WebhookSecret: apptest.Secret}, func(w *apptest.World) { w.DB = pgtest.CopyURL(t, apptest.CreateTables) })
	first, stopFirst := w.App, w.Stop
	w.StartApp()
	second, stopSecond := w.App, w.Stop
	w.Stop = func() error {
		if err := stopSecond(); err != nil {
			return err
		}
		return stopFirst()
	}
	toFirst = func() { w.GH.Webhook.Set("http://"+first.Addr()+app.HookPath, apptest.Secret) }
	toSecond = func() { w.GH.Webhook.Set("http://"+second.Addr()+app.HookPath, apptest.Secret) }
	toFirst()
	return w, toFirst, toSecond
}

// A push that one replica accepts stops the run of the other replica.
func TestNewerHeadAcceptedByAnotherReplica(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w, _, toSecond := replicas(t)
	came, letGo := w.Held(apptest.RouteFiles, "pull_number", "1")
	pr := w.Open(ghtest.Files{"store/client.go": apptest.Insecure})
	<-came
	old := pr.HeadSHA()
	w.Until("the check is open", func() bool { return len(pr.CheckRuns()) == 1 })
	toSecond()
	pr.Push(ghtest.Files{"store/client.go": apptest.Secure, "store/client_test.go": "package store\n"}, "fix")
	<-came // the new head's run has begun, so the old one's was stopped
	letGo()
	w.Idle()
	w.Wants(pr, "success")
	if c := w.Newest(w.Repo.Checks.On(old)); c.Conclusion != "cancelled" {
		t.Errorf("the old head's check is %s, want cancelled", c.Conclusion)
	}
}

// When both replicas get the same delivery, it is reviewed once.
func TestSameDeliveryAtBothReplicas(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w, _, toSecond := replicas(t)
	pr := w.Open(apptest.Clean())
	toSecond()
	if _, err := w.GH.Webhook.Redeliver(w.GH.Webhook.LastDelivery("pull_request").GUID); err != nil {
		t.Fatal(err)
	}
	w.Idle()
	w.Wants(pr, "success")
	if runs := pr.CheckRuns(); len(runs) != 1 {
		t.Errorf("%d check runs, want 1", len(runs))
	}
}

// One replica accepts a command during the other's run. The command is obeyed once, after
// that run.
func TestCommandAtAnotherReplicaDuringReview(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w, _, toSecond := replicas(t)
	came, letGo := w.Held(apptest.RouteFiles, "pull_number", "1")
	pr := w.Open(apptest.Clean())
	<-came
	toSecond()
	said := pr.Comment("alice", "/review")
	letGo()
	w.Idle()
	w.Wants(pr, "success")
	if runs := pr.CheckRuns(); len(runs) != 2 {
		t.Errorf("%d check runs, want one for the push and one for the command", len(runs))
	}
	if got := w.Reactions(pr, said.ID); len(got) != 2 {
		t.Errorf("reactions %v, want eyes and rocket", got)
	}
}
