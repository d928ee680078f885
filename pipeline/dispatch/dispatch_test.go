package dispatch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/pipeline"
)

type agentFunc func(context.Context, Task) (pipeline.AgentOutput, error)

func (f agentFunc) Review(ctx context.Context, t Task) (Answer, error) {
	out, err := f(ctx, t)
	return Answer{Output: out}, err
}

type passing struct{ error }

func (passing) Temporary() bool { return true }

func manifest(ids ...string) pipeline.AgentManifest {
	var m pipeline.AgentManifest
	for _, id := range ids {
		m.Entries = append(m.Entries, pipeline.ManifestEntry{Agent: id, Scope: pipeline.AgentScope{All: true}})
	}
	return m
}

func found(title string) agentFunc {
	return func(context.Context, Task) (pipeline.AgentOutput, error) {
		return pipeline.AgentOutput{Agent: "somebody else", Findings: pipeline.List[pipeline.Finding]{{Title: title}}}, nil
	}
}

func options(timeout time.Duration, retries int) Options {
	return Options{Concurrency: 8, Limits: func(string) Limits { return Limits{Timeout: timeout, Retries: retries} }}
}

func run(t *testing.T, m pipeline.AgentManifest, agents map[string]Agent, o Options) pipeline.List[pipeline.AgentResult] {
	t.Helper()
	results, err := Dispatch(context.Background(), m, &pipeline.PRFacts{}, &pipeline.Classification{}, agents, o)
	if err != nil {
		t.Fatal(err)
	}
	return results
}

func TestOneFailureAffectsNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		agents := map[string]Agent{
			"good": found("a"),
			"late": agentFunc(func(context.Context, Task) (pipeline.AgentOutput, error) {
				time.Sleep(time.Second)
				return found("b")(nil, Task{})
			}),
			"broken": agentFunc(func(context.Context, Task) (pipeline.AgentOutput, error) {
				return pipeline.AgentOutput{}, errors.New("no\nsuch host")
			}),
			"panics": agentFunc(func(context.Context, Task) (pipeline.AgentOutput, error) { panic("secret detail") }),
			"malformed": agentFunc(func(context.Context, Task) (pipeline.AgentOutput, error) {
				return pipeline.AgentOutput{}, &MalformedError{errors.New("no JSON")}
			}),
			"skipped": agentFunc(func(context.Context, Task) (pipeline.AgentOutput, error) {
				return pipeline.AgentOutput{}, fmt.Errorf("ask: %w", &SkippedError{"the budget\nis spent"})
			}),
			"slow": agentFunc(func(ctx context.Context, _ Task) (pipeline.AgentOutput, error) {
				<-ctx.Done()
				return pipeline.AgentOutput{}, ctx.Err()
			}),
		}
		m := manifest("slow", "good", "panics", "absent", "late", "broken", "malformed", "skipped")
		type row struct {
			Agent, Note string
			Status      pipeline.AgentStatus
			Findings    int
		}
		var got []row
		for _, r := range run(t, m, agents, options(10*time.Second, 2)) {
			got = append(got, row{r.Agent, r.Note, r.Status, len(r.Output.Findings)})
			if r.Status == pipeline.AgentOK && r.Output.Agent != r.Agent {
				t.Errorf("the output of %s names the agent %s", r.Agent, r.Output.Agent)
			}
		}
		want := []row{
			{"slow", "no answer within 10s", pipeline.AgentTimedOut, 0},
			{"good", "", pipeline.AgentOK, 1},
			{"panics", "an internal error stopped it", pipeline.AgentFailed, 0},
			{"absent", "not registered", pipeline.AgentFailed, 0},
			{"late", "", pipeline.AgentOK, 1},
			{"broken", "no such host", pipeline.AgentFailed, 0},
			{"malformed", "no JSON", pipeline.AgentMalformed, 0},
			{"skipped", "the budget is spent", pipeline.AgentSkipped, 0},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

func TestRetries(t *testing.T) {
	for _, tc := range []struct {
		name     string
		err      error
		failures int
		attempts int
		status   pipeline.AgentStatus
	}{
		{"transient and then good", passing{errors.New("busy")}, 2, 3, pipeline.AgentOK},
		{"transient for too long", passing{errors.New("busy")}, 9, 3, pipeline.AgentFailed},
		{"wrapped transient", fmt.Errorf("call: %w", passing{errors.New("busy")}), 1, 2, pipeline.AgentOK},
		{"permanent", errors.New("denied"), 9, 1, pipeline.AgentFailed},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				calls := 0
				agent := agentFunc(func(ctx context.Context, task Task) (pipeline.AgentOutput, error) {
					if calls++; calls <= tc.failures {
						return pipeline.AgentOutput{}, tc.err
					}
					return found("a")(ctx, task)
				})
				o := options(time.Minute, 2)
				var seen []Observation
				o.Observe = func(s Observation) { seen = append(seen, s) }
				results := run(t, manifest("a"), map[string]Agent{"a": agent}, o)
				if results[0].Status != tc.status || calls != tc.attempts {
					t.Errorf("status %s after %d attempts, want %s after %d", results[0].Status, calls, tc.status, tc.attempts)
				}
				if len(seen) != 1 || seen[0].Attempts != tc.attempts || seen[0].Status != tc.status {
					t.Errorf("observed %+v", seen)
				}
			})
		})
	}
}

// limited asks callers to wait.
type limited struct{ after time.Duration }

func (limited) Error() string               { return "too many questions" }
func (limited) Temporary() bool             { return true }
func (l limited) RetryAfter() time.Duration { return l.after }

func TestAgentsWaitTimeIsRespected(t *testing.T) {
	for _, tc := range []struct {
		after, took time.Duration
		status      pipeline.AgentStatus
	}{
		{20 * time.Second, 20 * time.Second, pipeline.AgentOK},
		{2 * time.Minute, 0, pipeline.AgentFailed}, // longer than the timeout, so dispatch does not wait
	} {
		synctest.Test(t, func(t *testing.T) {
			start, calls := time.Now(), 0
			agent := agentFunc(func(ctx context.Context, task Task) (pipeline.AgentOutput, error) {
				if calls++; calls == 1 {
					return pipeline.AgentOutput{}, fmt.Errorf("ask: %w", limited{tc.after})
				}
				return found("a")(ctx, task)
			})
			results := run(t, manifest("a"), map[string]Agent{"a": agent}, options(time.Minute, 2))
			if took := time.Since(start); results[0].Status != tc.status || took != tc.took {
				t.Errorf("asked to wait %s: %s after %s, want %s after %s", tc.after, results[0].Status, took, tc.status, tc.took)
			}
		})
	}
}

// An agent has one result for each of its models, whatever its answers claim.
func TestModelsAreAskedOneByOne(t *testing.T) {
	m := manifest("a", "b")
	m.Entries[0].Models, m.Entries[0].Stage = pipeline.List[string]{"small", "big"}, pipeline.ReviewStageSpec
	agent := agentFunc(func(_ context.Context, task Task) (pipeline.AgentOutput, error) {
		if task.Model == "big" {
			return pipeline.AgentOutput{}, errors.New("down")
		}
		return pipeline.AgentOutput{Model: "huge", Stage: pipeline.ReviewStageQuality}, nil
	})
	var got []string
	for _, r := range run(t, m, map[string]Agent{"a": agent, "b": agent}, options(time.Minute, 0)) {
		got = append(got, fmt.Sprintf("%s %s %s %s", r.Agent, r.Model, r.Stage, r.Status))
	}
	if want := []string{"a small spec ok", "a big spec failed", "b huge  ok"}; !slices.Equal(got, want) {
		t.Errorf("results %q, want %q", got, want)
	}
}

func TestTimeoutCoversAllAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		agent := agentFunc(func(context.Context, Task) (pipeline.AgentOutput, error) {
			time.Sleep(400 * time.Millisecond)
			return pipeline.AgentOutput{}, passing{errors.New("busy")}
		})
		results := run(t, manifest("a"), map[string]Agent{"a": agent}, options(time.Second, 100))
		if took := time.Since(start); took != time.Second || results[0].Status != pipeline.AgentTimedOut {
			t.Errorf("%s after %s, want timed_out after 1s", results[0].Status, took)
		}
		time.Sleep(time.Second) // until the abandoned attempt ends
	})
}

func TestAgentThatIgnoresItsContextIsAbandoned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan bool)
		deaf := agentFunc(func(context.Context, Task) (pipeline.AgentOutput, error) {
			<-release
			return pipeline.AgentOutput{}, nil
		})
		results := run(t, manifest("deaf"), map[string]Agent{"deaf": deaf}, options(time.Second, 0))
		if results[0].Status != pipeline.AgentTimedOut {
			t.Errorf("status %s, want timed_out", results[0].Status)
		}
		close(release)
	})
}

func TestCancelledDispatchHasNoResults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		newer := errors.New("newer head")
		ctx, cancel := context.WithCancelCause(context.Background())
		agent := agentFunc(func(ctx context.Context, _ Task) (pipeline.AgentOutput, error) {
			cancel(newer)
			<-ctx.Done()
			return pipeline.AgentOutput{}, ctx.Err()
		})
		o := options(time.Minute, 2)
		o.Observe = func(s Observation) { t.Errorf("observed %+v", s) }
		results, err := Dispatch(ctx, manifest("a", "b"), nil, nil, map[string]Agent{"a": agent, "b": agent}, o)
		if results != nil || !errors.Is(err, newer) {
			t.Errorf("results %v, error %v", results, err)
		}
	})
}

func TestConcurrencyIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var now, most atomic.Int32
		ids, agents := []string{}, map[string]Agent{}
		for i := range 20 {
			id := fmt.Sprintf("a%02d", i)
			ids = append(ids, id)
			agents[id] = agentFunc(func(ctx context.Context, task Task) (pipeline.AgentOutput, error) {
				n := now.Add(1)
				defer now.Add(-1)
				for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
				}
				time.Sleep(time.Second)
				return found(task.Entry.Agent)(ctx, task)
			})
		}
		o := options(time.Minute, 0)
		o.Concurrency = 4
		results := run(t, manifest(ids...), agents, o)
		if got := most.Load(); got != 4 {
			t.Errorf("%d agents at once, want 4", got)
		}
		order := slices.Collect(func(yield func(string) bool) {
			for _, r := range results {
				if !yield(r.Output.Findings[0].Title) {
					return
				}
			}
		})
		if !slices.Equal(order, ids) {
			t.Errorf("results in order %v", order)
		}
	})
}

// A model that hangs delays only those that ask it, and nobody longer than the timeout.
func TestModelThatHangsDelaysNobodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := manifest("a", "b", "plain")
		m.Entries[0].Models, m.Entries[1].Models = pipeline.List[string]{"hangs", "works"}, pipeline.List[string]{"hangs", "works"}
		start := time.Now()
		took := map[string]time.Duration{}
		agent := agentFunc(func(ctx context.Context, task Task) (pipeline.AgentOutput, error) {
			if task.Model == "hangs" {
				<-ctx.Done()
				return pipeline.AgentOutput{}, ctx.Err()
			}
			time.Sleep(time.Second)
			return pipeline.AgentOutput{}, nil
		})
		o := options(time.Minute, 2)
		o.Concurrency = 2
		var mu sync.Mutex
		o.Observe = func(seen Observation) {
			mu.Lock()
			defer mu.Unlock()
			took[strings.TrimSpace(seen.Agent+" "+seen.Model)] = time.Since(start)
		}
		results := run(t, m, map[string]Agent{"a": agent, "b": agent, "plain": agent}, o)
		want := map[string]time.Duration{"a hangs": time.Minute, "b hangs": time.Minute, "a works": time.Second, "b works": time.Second, "plain": time.Second}
		if diff := cmp.Diff(want, took); diff != "" || time.Since(start) != time.Minute {
			t.Errorf("after %s: %s", time.Since(start), diff)
		}
		if results[0].Status != pipeline.AgentTimedOut || results[0].Note != "no answer within 1m0s" || results[1].Status != pipeline.AgentOK {
			t.Errorf("results %+v", results)
		}
	})
}

func TestNoteIsBounded(t *testing.T) {
	agent := agentFunc(func(context.Context, Task) (pipeline.AgentOutput, error) {
		return pipeline.AgentOutput{}, errors.New(strings.Repeat("é", 5000))
	})
	r := run(t, manifest("a"), map[string]Agent{"a": agent}, options(time.Minute, 0))
	if n := len([]rune(r[0].Note)); n != 300 {
		t.Errorf("note of %d characters, want 300", n)
	}
}
