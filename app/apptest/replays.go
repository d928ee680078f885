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

// Replays checks that every review in a database is computed again to the same report. Agents
// are those that replaced the config's in the reviews. It returns how many reviews there are.
func Replays(t *testing.T, url string, agents map[string]dispatch.Agent) int {
	t.Helper()
	reader, err := store.OpenReader(context.Background(), url)
	if err != nil {
		t.Errorf("replay the stored reviews: %v", err)
		return 0
	}
	defer reader.Close() //nolint:errcheck // it wrote nothing
	runner, err := run.NewRunner(run.Config{Version: "test", Now: time.Now, Agents: agents, Engines: engines})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for r, err := range replay.New(runner).All(context.Background(), reader, ports.ReviewFilter{}) {
		if err != nil {
			t.Errorf("replay the stored reviews: %v", err)
			break
		}
		n++
		if !r.Identical {
			t.Errorf("the replay of run %s, %s at %s, differs: %v %v", r.RunID, r.Pull, r.HeadSHA, r.Err, r.Differs)
		}
	}
	return n
}
