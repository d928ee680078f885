package dispatch

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reviewgate/reviewgate/pipeline"
)

// If an agent found a part before it failed, the part counts, whatever later attempts do, but the
// agent did not finish. If the error does not say that there is a part, nothing counts.
func TestPartOfAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		part := func(then func(context.Context) error) agentFunc {
			attempts := 0
			return func(ctx context.Context, _ Task) (pipeline.AgentOutput, error) {
				if attempts++; attempts > 1 {
					return pipeline.AgentOutput{}, then(ctx)
				}
				out, _ := found("a")(ctx, Task{})
				out.Documents = pipeline.List[pipeline.DocumentReview]{{Path: "SPEC.md"}}
				return out, &PartError{Err: passing{errors.New("PLAN.md: down")}}
			}
		}
		agents := map[string]Agent{
			"fails": part(func(context.Context) error { return errors.New("denied") }),
			"stops": part(func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }),
			"whole": agentFunc(func(context.Context, Task) (pipeline.AgentOutput, error) {
				out, _ := found("a")(nil, Task{})
				return out, errors.New("no part of it is good")
			}),
			"skips": agentFunc(func(context.Context, Task) (pipeline.AgentOutput, error) {
				out, _ := found("a")(nil, Task{})
				return out, &PartError{Err: &SkippedError{Why: "PLAN.md is too large"}}
			}),
		}
		for _, r := range run(t, manifest("fails", "stops", "whole", "skips"), agents, options(10*time.Second, 1)) {
			want := map[string]struct {
				status pipeline.AgentStatus
				note   string
				found  int
			}{
				"fails": {pipeline.AgentFailed, "denied", 1}, "stops": {pipeline.AgentTimedOut, "no answer within 10s", 1},
				"whole": {pipeline.AgentFailed, "no part of it is good", 0}, "skips": {pipeline.AgentSkipped, "PLAN.md is too large", 1},
			}[r.Agent]
			if r.Status != want.status || r.Note != want.note || len(r.Output.Findings) != want.found {
				t.Errorf("%s: %s, %q, %d findings", r.Agent, r.Status, r.Note, len(r.Output.Findings))
			}
			if (r.Agent == "fails" || r.Agent == "stops") && len(r.Documents) != 1 {
				t.Errorf("%s reviewed %+v", r.Agent, r.Documents)
			}
		}
	})
}

// askedAbout is an agent that tells what a model was asked about, and then fails with err.
type askedAbout struct{ err error }

func (a askedAbout) Review(context.Context, Task) (Answer, error) {
	return Answer{Asked: []pipeline.AskedLines{{Path: "a.go", First: 1, Last: 3}}}, a.err
}

// What a model was asked about is in the result, unless the answer does not count.
func TestAskedIsInTheResult(t *testing.T) {
	agents := map[string]Agent{
		"answers": askedAbout{}, "in part": askedAbout{&PartError{Err: errors.New("down")}}, "fails": askedAbout{errors.New("down")},
	}
	for _, r := range run(t, manifest("answers", "in part", "fails"), agents, options(10*time.Second, 0)) {
		if want := r.Agent != "fails"; (len(r.Asked) == 1) != want {
			t.Errorf("%s: asked about %+v", r.Agent, r.Asked)
		}
	}
}
