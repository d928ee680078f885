package run

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
)

// withServices is the config of modelled with a service for one of the two changed files.
func withServices(t *testing.T) *config.Config {
	t.Helper()
	cfg, problems := config.Load(layerOf(config.LayerServer, map[string]string{
		config.FileSettings: withModels, config.FileAgents: modelAgents, config.FileComposition: modelPolicies,
		config.FileDomains: `[{"id": "pricing", "type": "service", "service": "pricing", "description": "d", "globs": ["src/pricing/**"]}]`,
	}))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return cfg
}

// askedOf is an agent that tells what its model was asked about.
type askedOf struct{ lines []pipeline.AskedLines }

func (a askedOf) Review(context.Context, dispatch.Task) (dispatch.Answer, error) {
	return dispatch.Answer{Asked: a.lines}, nil
}

// A model's answer is carried over only if memory would tell the model the same of the files in
// scope. What is known of other services, single decisions, and mere counting change nothing, and
// agents without a model don't read memory.
func TestCarryComparesWhatMemoryTells(t *testing.T) {
	wrong := func(service string, globs ...string) pipeline.FalsePositive {
		return pipeline.FalsePositive{Record: "M-1", Service: service, Globs: globs, Title: "Totals race", Reason: "They don't."}
	}
	often := func(n int) pipeline.Memory {
		return pipeline.Memory{Recurring: pipeline.List[pipeline.RecurringFinding]{{
			Service: "pricing", Title: "Rounded twice", Severity: "major", Frequency: n, LastSeen: time.Unix(int64(n)*1e6, 0), Example: "src/pricing/a.ts:" + string(rune('0'+n)),
		}}}
	}
	falsely := func(list ...pipeline.FalsePositive) pipeline.Memory { return pipeline.Memory{FalsePositives: list} }
	reworded := wrong("pricing")
	reworded.Reason = "Nobody shares them."
	other := wrong("")
	other.Record = "M-2"
	for name, test := range map[string]struct {
		before, now pipeline.Memory
		carried     bool
	}{
		"nothing":                     {pipeline.Memory{}, pipeline.Memory{}, true},
		"the same":                    {falsely(wrong("pricing"), other), falsely(other, wrong("pricing")), true},
		"a record of the service":     {pipeline.Memory{}, falsely(wrong("pricing")), false},
		"one that is revoked":         {falsely(wrong("pricing")), pipeline.Memory{}, false},
		"another reason":              {falsely(wrong("pricing")), falsely(reworded), false},
		"a record of the repository":  {pipeline.Memory{}, falsely(wrong("")), false},
		"a record of another service": {pipeline.Memory{}, falsely(wrong("mail")), true},
		"a record of other files":     {pipeline.Memory{}, falsely(wrong("pricing", "src/cart/**")), true},
		"a record of these files":     {pipeline.Memory{}, falsely(wrong("pricing", "src/cart/**", "**/total.ts")), false},
		"a new pattern":               {pipeline.Memory{}, often(3), false},
		"what two pull requests had":  {pipeline.Memory{}, often(2), true},
		"a pattern seen again":        {often(3), often(4), true},
		"a pattern seen much more":    {often(3), often(5), false},
		"a dismissal":                 {pipeline.Memory{}, pipeline.Memory{Dismissed: pipeline.List[pipeline.Dismissal]{{Fingerprint: "f", Path: "a.ts", Reason: "wrong", By: "ann"}}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCarrying(t)
			told := map[string]*pipeline.Memory{}
			asked := []pipeline.AskedLines{{Path: "src/pricing/total.ts", First: 1, Last: 1}}
			review := func(m pipeline.Memory, carry Carry) Outcome {
				src := c.first()
				src.cfg = withServices(t)
				out, err := c.runner.Run(t.Context(), src, Options{
					Carry: carry,
					Memory: func(context.Context, *pipeline.PRFacts, *pipeline.Classification) (pipeline.Memory, error) {
						return m, nil
					},
					IOAgents: func(of IOAgent) dispatch.Agent {
						told[of.Agent.ID] = of.Memory
						return askedOf{asked}
					},
				})
				if err != nil {
					t.Fatal(err)
				}
				return out
			}
			first := review(test.before, Carry{})
			asked = nil
			second := review(test.now, c.after(first, Carry{SameHead: true}))
			for _, agent := range []string{"spec-model", "quality-model"} {
				if got := slices.Contains(carriedOver(second), agent); got != test.carried {
					t.Errorf("%s is carried: %t", agent, got)
				}
				if told[agent] == nil || !cmp.Equal(*told[agent], test.now) {
					t.Errorf("%s is told %+v", agent, told[agent])
				}
				i := slices.IndexFunc(second.Review.Results, func(r pipeline.AgentResult) bool { return r.Agent == agent })
				if kept := len(second.Review.Results[i].Asked) == 1; kept != test.carried {
					t.Errorf("%s: asked about %+v", agent, second.Review.Results[i].Asked)
				}
			}
			if !slices.Contains(carriedOver(second), ofSecrets) {
				t.Errorf("carried %q", carriedOver(second))
			}
			replays(t, c.runner, second.Review, withServices(t))
		})
	}
}

// What is in evaluation is asked with the same memory, and its results are carried by the same rule.
func TestEvaluationIsToldMemory(t *testing.T) {
	cfg, problems := config.Load(layerOf(config.LayerServer, map[string]string{
		config.FileSettings: withModels, config.FileAgents: modelAgents,
		config.FileComposition: `[{"id": "tried", "mode": "evaluate", "description": "d", "priority": 10, "trigger": {"type": "always"}, "dispatch": {"agents": ["quality-model"]}}]`,
	}))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	memory := func(reason string) pipeline.Memory {
		return pipeline.Memory{FalsePositives: pipeline.List[pipeline.FalsePositive]{{Record: "M-1", Title: "Totals race", Reason: reason}}}
	}
	c := newCarrying(t)
	var telling sync.Mutex // models are asked in parallel
	var told []string
	review := func(m pipeline.Memory, carry Carry) Outcome {
		src := c.first()
		src.cfg = cfg
		out, err := c.runner.Run(t.Context(), src, Options{
			Carry: carry,
			Memory: func(context.Context, *pipeline.PRFacts, *pipeline.Classification) (pipeline.Memory, error) {
				return m, nil
			},
			IOAgents: func(of IOAgent) dispatch.Agent {
				if !of.Evaluation {
					return askedOf{}
				}
				return agentFunc(func(context.Context, dispatch.Task) (pipeline.AgentOutput, error) {
					telling.Lock()
					defer telling.Unlock()
					told = append(told, of.Memory.FalsePositives[0].Reason)
					return pipeline.AgentOutput{}, nil
				})
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	first := review(memory("one"), Carry{})
	asked := len(told)
	review(memory("one"), c.after(first, Carry{SameHead: true}))
	if asked == 0 || len(told) != asked {
		t.Errorf("asked %d times, and %d times again", asked, len(told)-asked)
	}
	review(memory("two"), c.after(first, Carry{SameHead: true}))
	if len(told) != 2*asked || told[asked] != "two" {
		t.Errorf("told %q", told)
	}
}
