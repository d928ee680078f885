package run

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
)

// replays checks that a review in its stored form is computed again to the same bytes.
func replays(t *testing.T, r *Runner, was pipeline.Review, cfg *config.Config) {
	t.Helper()
	var v pipeline.Review
	if err := json.Unmarshal([]byte(stored(t, was)), &v); err != nil {
		t.Fatal(err)
	}
	v.Report = pipeline.Report{} // a replay must not read it
	report, err := r.Replay(t.Context(), &v, cfg)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(stored(t, was.Report), stored(t, report)); diff != "" {
		t.Errorf("the replay differs:\n%s", diff)
	}
}

func TestReplay(t *testing.T) {
	for name, agent := range map[string]dispatch.Agent{
		"an agent finds something": says(pipeline.SeverityCritical),
		"an agent fails": agentFunc(func(context.Context, dispatch.Task) (pipeline.AgentOutput, error) {
			return pipeline.AgentOutput{}, errors.New("down")
		}),
	} {
		r := newRunner(t, map[string]dispatch.Agent{"finance-sme": agent})
		out, err := r.Run(t.Context(), change(t), Options{})
		if err != nil {
			t.Fatal(name, err)
		}
		replays(t, r, out.Review, out.Config)
	}
}

// A stage that failed is not repeated: the replay makes the report of the failure.
func TestReplayOfAFailedStage(t *testing.T) {
	r := newRunner(t, map[string]dispatch.Agent{"finance-sme": says(pipeline.SeverityCritical)})
	out, err := r.Run(t.Context(), change(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, stage := range []pipeline.Stage{pipeline.StageClassify, pipeline.StageDispatch, pipeline.StageAggregate} {
		was := out.Review
		was.Failed = stage
		report, err := r.Replay(t.Context(), &was, out.Config)
		if err != nil {
			t.Fatal(err)
		}
		if want := *failureOf(stage); len(report.Incomplete) == 0 || report.Incomplete[0] != want || !report.Decision.Blocks() {
			t.Errorf("%s: %s with %+v, want it to block by %+v", stage, report.Decision, report.Incomplete, want)
		}
	}
}

// Whatever the report depends on is read from the review: if it changes, so does the replay.
func TestReplayReadsItsInputs(t *testing.T) {
	r := newRunner(t, map[string]dispatch.Agent{"finance-sme": says(pipeline.SeverityCritical)})
	out, err := r.Run(t.Context(), change(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, alter := range map[string]func(*pipeline.Review){
		"facts":    func(v *pipeline.Review) { v.Facts.Files = nil },
		"results":  func(v *pipeline.Review) { v.Results = nil },
		"previous": func(v *pipeline.Review) { v.Previous = &pipeline.PreviousReport{HeadSHA: "abc", Iteration: 3} },
		"memory": func(v *pipeline.Review) {
			v.Memory.ByHand = &pipeline.HandDecision{Action: pipeline.HandOverride, By: "alice"}
		},
		"proposed": func(v *pipeline.Review) { v.Proposed = &pipeline.ProposedConfig{Note: "altered"} },
	} {
		was := out.Review
		alter(&was)
		report, err := r.Replay(t.Context(), &was, out.Config)
		if err != nil {
			t.Fatal(err)
		}
		if stored(t, report) == stored(t, out.Review.Report) {
			t.Errorf("%s: the replay is the same", name)
		}
	}
}

// If models were to judge one another's findings, the decision could be milder or stricter.
func TestBacktestWithAnotherVerifier(t *testing.T) {
	r := newRunner(t, map[string]dispatch.Agent{"finance-sme": says(pipeline.SeverityCritical)})
	out, err := r.Run(t.Context(), change(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	verified := *out.Config
	verified.Settings.Models.Verify = "big"
	rekey(&verified, "verify")
	for model, want := range map[string]bool{"": false, "small": true} {
		was := out.Review
		was.Results = slices.Clone(was.Results)
		for i := range was.Results {
			was.Results[i].Model = model
		}
		b, err := r.Backtest(t.Context(), &was, Under{Own: out.Config, Config: &verified, Same: func(string) bool { return true }})
		if err != nil {
			t.Fatal(err)
		}
		if b.Either != want || (len(b.Unknown) > 0) != want {
			t.Errorf("findings of %q: either %t, unknown %q", model, b.Either, b.Unknown)
		}
	}
}
