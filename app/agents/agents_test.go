package agents

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/reviewgate/reviewgate/app/agents/model"
	"github.com/reviewgate/reviewgate/app/llm"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/pipeline/run"
)

// hub is a source whose files give the remaining answers, one after the other.
type hub struct{ answers []error }

func (h *hub) File(context.Context, string, string, int64) ([]byte, error) {
	err := h.answers[0]
	h.answers = h.answers[1:]
	return []byte("text"), err
}

func asIs(s string) string { return s }

// Temporary failures are distinguished from permanent ones, and the last attempt's failure
// counts.
func TestFailuresOfAgents(t *testing.T) {
	host := func(kind ports.HostKind) error {
		return &ports.HostError{Op: "read", Kind: kind, Err: errors.New("no")}
	}
	tests := map[string]struct {
		answers []error
		stopped bool
		puts    bool // the review off
	}{
		"none":                           {[]error{nil}, false, false},
		"a failing server":               {[]error{host(ports.HostTransient)}, false, true},
		"a limit":                        {[]error{host(ports.HostLimited)}, false, true},
		"no permission":                  {[]error{host(ports.HostForbidden)}, false, false},
		"all calls used up":              {[]error{host(ports.HostBudget)}, false, false},
		"not a host's error":             {[]error{errors.New("odd")}, false, false},
		"passed":                         {[]error{host(ports.HostTransient), nil}, false, false},
		"a permanent failure at the end": {[]error{host(ports.HostTransient), host(ports.HostForbidden)}, false, false},
		"the time was up":                {[]error{host(ports.HostTransient)}, true, false},
		"a temporary failure at the end": {[]error{nil, host(ports.HostLimited)}, false, true},
		"gone from the head":             {[]error{host(ports.HostNotFound)}, false, false},
		"a temporary failure that ended": {[]error{nil, host(ports.HostLimited), nil}, false, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := New(Options{Files: &hub{answers: tt.answers}})
			a := r.Agent(run.IOAgent{Agent: config.Agent{ID: "reports", Kind: config.KindReport}, Config: &config.Config{}, Redact: asIs})
			task := dispatch.Task{
				Entry: pipeline.ManifestEntry{Agent: "reports", Scope: pipeline.AgentScope{All: true}},
				Facts: &pipeline.PRFacts{Files: pipeline.List[pipeline.File]{{Path: "docs/02-plans/1/review/a-report.md", Status: pipeline.FileModified}}},
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if tt.stopped {
				cancel()
			}
			for _, want := range tt.answers {
				if _, err := a.Review(ctx, task); !errors.Is(err, want) {
					t.Errorf("error %v, want %v", err, want)
				}
			}
			if err := r.Trouble(); (err != nil) != tt.puts {
				t.Errorf("the review was postponed: %v", err)
			}
		})
	}
}

// A document that GitHub can't give now postpones the review, until each model that is asked
// about it has got it.
func TestDocumentCannotBeReadNow(t *testing.T) {
	down := &ports.HostError{Op: "read", Kind: ports.HostTransient, Err: errors.New("no")}
	endpoints := []config.ModelEndpoint{{Name: "one", BaseURL: "http://localhost"}, {Name: "two", BaseURL: "http://localhost"}}
	models, err := model.Open(endpoints, func(config.ModelEndpoint, string) (llm.Model, error) { return mute{}, nil }, nil)
	if err != nil {
		t.Fatal(err)
	}
	cfg, _ := config.Load()
	r := New(Options{Models: models, Files: &hub{answers: []error{down, down, nil}}})
	spec := run.IOAgent{Config: cfg, Redact: asIs, RedactOther: asIs, Used: func(pipeline.ModelUse) {}}
	for _, a := range cfg.Agents {
		if by, ok := a.Reviewer(); ok && by.Phase == pipeline.PhaseSpec {
			spec.Agent = a
		}
	}
	a := r.Agent(spec)
	task := dispatch.Task{
		Entry: pipeline.ManifestEntry{Agent: spec.Agent.ID, Scope: pipeline.AgentScope{Files: pipeline.List[string]{"SPEC.md"}}},
		Facts: &pipeline.PRFacts{Files: pipeline.List[pipeline.File]{{Path: "SPEC.md", Status: pipeline.FileModified}}},
	}
	for i, step := range []struct {
		model string
		puts  bool
	}{{"one", true}, {"two", true}, {"one", true}, {"two", false}} {
		task.Model = step.model
		_, _ = a.Review(t.Context(), task)
		if err := r.Trouble(); (err != nil) != step.puts {
			t.Errorf("step %d: %v", i, err)
		}
	}
}

// mute is a model that does not answer.
type mute struct{}

func (mute) Ask(context.Context, llm.Question) (llm.Answer, error) {
	return llm.Answer{}, errors.New("no answer")
}

// Each kind of agent has a row, except those that the pipeline implements itself.
func TestEachKindHasARow(t *testing.T) {
	for _, kind := range append(config.Kinds(), config.Kind{}) {
		a := New(Options{}).Agent(run.IOAgent{Agent: config.Agent{Kind: kind.Name}, Config: &config.Config{}, Redact: asIs})
		if builtIn := slices.Contains([]string{config.KindRules, config.KindSecrets, config.KindWebhook, ""}, kind.Name); (a == nil) != builtIn {
			t.Errorf("kind %q: %v", kind.Name, a)
		}
	}
}

// If no GitHub is reachable, the code scanning agent says in its note that it read
// nothing.
func TestNothingToScan(t *testing.T) {
	a := New(Options{}).Agent(run.IOAgent{Agent: config.Agent{Kind: config.KindCodeScanning}})
	if answer, err := a.Review(t.Context(), dispatch.Task{}); err != nil || answer.Note != "what other Apps found is on GitHub, and was not looked at" {
		t.Errorf("note %q, %v", answer.Note, err)
	}
}

// Trouble of an agent in evaluation postpones no review, and hides none of the enforced agent's.
func TestTroubleInEvaluation(t *testing.T) {
	down := &ports.HostError{Op: "read", Kind: ports.HostTransient, Err: errors.New("no")}
	for name, c := range map[string]struct {
		enforced, evaluated error
		puts                bool
	}{
		"only in evaluation": {nil, down, false},
		"only enforced":      {down, nil, true},
	} {
		r := New(Options{Files: &hub{answers: []error{c.enforced, c.evaluated}}})
		spec := run.IOAgent{Agent: config.Agent{ID: "reports", Kind: config.KindReport}, Config: &config.Config{}, Redact: asIs}
		task := dispatch.Task{
			Entry: pipeline.ManifestEntry{Agent: "reports", Scope: pipeline.AgentScope{All: true}},
			Facts: &pipeline.PRFacts{Files: pipeline.List[pipeline.File]{{Path: "docs/02-plans/1/review/a-report.md", Status: pipeline.FileModified}}},
		}
		for _, evaluation := range []bool{false, true} {
			spec.Evaluation = evaluation
			_, _ = r.Agent(spec).Review(t.Context(), task) // TestFailuresOfAgents checks the error
		}
		if err := r.Trouble(); (err != nil) != c.puts {
			t.Errorf("%s: the review was postponed: %v", name, err)
		}
	}
}
