package model

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reviewgate/reviewgate/app/llm"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
)

// All questions of one review about the same files start with the same bytes, for every agent
// and stage. Questions of another review start differently.
func TestSharedBeginning(t *testing.T) {
	round, other := &Round{}, &Round{}
	question := func(round *Round, stage, prompt string) llm.Question {
		o := testOptions(&scripted{})
		o.Random, o.Round, o.Shares, o.Stage, o.Prompt = nil, round, true, stage, prompt
		q, _, _ := ask(t, o, testTask(shop()))
		return q
	}
	spec := question(round, pipeline.ReviewStageSpec, "Compare.")
	quality := question(round, pipeline.ReviewStageQuality, "Look for mistakes.")
	if spec.Shared == "" || spec.Shared != quality.Shared || spec.System != quality.System || string(spec.Schema.JSON) != string(quality.Schema.JSON) {
		t.Errorf("%q and %q begin differently", spec.Shared, quality.Shared)
	}
	if !strings.Contains(spec.Text, "A description") || strings.Contains(spec.Shared+quality.Shared+quality.Text, "A description") {
		t.Error("the description is in the shared part, or missing in the spec stage")
	}
	if again := question(other, pipeline.ReviewStageQuality, "Look for mistakes."); again.Shared == quality.Shared {
		t.Error("two reviews have the same code")
	}
}

// waiting is a model that answers after some time. It starts its answer after half of that
// time.
type waiting struct {
	begins bool // whether it reports the start
	err    error
	asked  chan time.Time
}

func (w *waiting) Ask(ctx context.Context, q llm.Question) (llm.Answer, error) {
	w.asked <- time.Now()
	time.Sleep(time.Second)
	if w.begins {
		q.Begun()
	}
	time.Sleep(time.Second)
	if w.err != nil {
		return llm.Answer{}, w.err
	}
	return llm.Answer{Text: none}, ctx.Err()
}

// A model's second question about the same files waits until the model has read the first:
// until its answer starts, until it ends, or for some seconds. Questions that share nothing
// do not wait.
func TestTurns(t *testing.T) {
	for name, c := range map[string]struct {
		begins, shares bool
		err            error
		late           time.Duration // of the second question
	}{
		"begins":                    {true, true, nil, time.Second},
		"does not report the start": {false, true, nil, 2 * time.Second},
		"fails":                     {false, true, &llm.Error{Kind: llm.Overloaded}, 2 * time.Second},
		"shares nothing":            {true, false, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &waiting{begins: c.begins, err: c.err, asked: make(chan time.Time, 3)}
				o := testOptions(&scripted{})
				o.Models = map[string]Endpoint{modelName: {Model: m, ModelEndpoint: config.ModelEndpoint{Name: modelName}}}
				o.Shares, o.Random = c.shares, nil
				a := New(o)
				for range 3 {
					go func() { _, _ = a.Review(t.Context(), testTask(shop())) }()
				}
				first, second, third := <-m.asked, <-m.asked, <-m.asked
				if second.Sub(first) != c.late || third.Sub(first) != c.late {
					t.Errorf("the other questions came %s and %s later", second.Sub(first), third.Sub(first))
				}
				time.Sleep(3 * time.Second)
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		var r Round
		q := llm.Question{Shared: "s"}
		if _, err := r.turn(t.Context(), "m", q); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		if _, err := r.turn(t.Context(), "m", q); err != nil || time.Since(start) != longestTurn {
			t.Errorf("waited %s, %v", time.Since(start), err)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		gone := errors.New("superseded")
		cancel(gone)
		if _, err := r.turn(ctx, "m", q); !errors.Is(err, gone) {
			t.Error(err)
		}
	})
}
