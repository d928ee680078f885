package apptest

import (
	"context"
	"fmt"
	"hash/fnv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/reviewgate/reviewgate/app/internal/store"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/replay"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/pipeline/run"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// Replays checks that every review in a database is computed again to the same report, or that
// it lacks something that an older version did not store. Agents are those that replaced the
// config's in the reviews. By default it does so in one of four tests. In the full run it does so in
// each, and also checks that a backtest of the config in force changes nothing.
func Replays(t *testing.T, url string, agents map[string]dispatch.Agent) {
	t.Helper()
	if raceDetector || !replayed(t.Name()) { // the detector would show nothing new, and take much longer
		return
	}
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
	replayer := replay.New(runner)
	for r, err := range replayer.All(context.Background(), reader, ports.ReviewFilter{}) {
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
	if !sample.Full() {
		return
	}
	for review, err := range reader.Archived(context.Background(), ports.ReviewFilter{}) {
		if err == nil && review.Lacks == "" {
			err = changesNothing(runner, replayer, review)
		}
		if err != nil {
			t.Errorf("the backtest of the config in force: %v", err)
		}
	}
}

// replayed reports whether the reviews of a test are replayed.
func replayed(test string) bool {
	h := fnv.New32a()
	_, _ = h.Write([]byte(test)) // a hash never fails
	return sample.Full() || h.Sum32()%4 == 0
}

// changesNothing returns an error unless a review is the same under the config that it used.
func changesNothing(runner *run.Runner, replayer *replay.Replayer, s *ports.StoredReview) error {
	was := s.Review
	if was.Failed != "" {
		return nil // can't be computed
	}
	cfg, err := replayer.ConfigOf(s)
	if err != nil {
		return err
	}
	was.Memory.ByHand, was.Proposed = nil, nil // a backtest computes what the gate says
	want, err := runner.Replay(context.Background(), &was, cfg)
	if err != nil {
		return err
	}
	want.Evaluation = nil // a backtest computes no evaluation
	got, err := runner.Backtest(context.Background(), &s.Review, run.Under{Own: cfg, Config: cfg, Same: func(string) bool { return true }})
	if err != nil {
		return err
	}
	if diff := cmp.Diff(want, got.Report, cmpopts.EquateEmpty()); diff != "" || len(got.Unknown) > 0 {
		return fmt.Errorf("run %s, %s: unknown %v, and the report differs (-want +got):\n%s", s.RunID, s.Key, got.Unknown, diff)
	}
	return nil
}
