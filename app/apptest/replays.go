package apptest

import (
	"context"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/internal/store"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/replay"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/pipeline/run"
)

// Replays checks that every review in a database is computed again to the same report, or that
// it lacks something that an older version did not store. Agents are those that replaced the
// config's in the reviews.
func Replays(t *testing.T, url string, agents map[string]dispatch.Agent) {
	t.Helper()
	reader, err := store.OpenReader(context.Background(), url)
	if err != nil {
		t.Errorf("replay the stored reviews: %v", err)
		return
	}
	defer reader.Close() //nolint:errcheck // it wrote nothing
	runner, err := run.NewRunner(run.Config{Version: "test", Now: time.Now, Agents: agents, Engines: engines})
	if err != nil {
		t.Fatal(err)
	}
	old := 0
	for r, err := range replay.New(runner).All(context.Background(), reader, ports.ReviewFilter{}) {
		if err != nil {
			t.Errorf("replay the stored reviews: %v", err)
			break
		}
		switch {
		case r.Identical && r.Lacks != "":
			old++
		case r.Identical:
		case r.Lacks != "":
			t.Logf("the replay of the old run %s, %s by %s, differs: %v %v", r.RunID, r.Pull, r.Version, r.Err, r.Differs)
		default:
			t.Errorf("the replay of run %s, %s at %s, differs: %v %v", r.RunID, r.Pull, r.HeadSHA, r.Err, r.Differs)
		}
	}
	if old > 0 {
		t.Logf("%d old reviews are replayed to the same report", old)
	}
}
