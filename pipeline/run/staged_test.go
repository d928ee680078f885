package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/aggregate"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
)

// withModels has two models, and modelAgents an agent for each stage.
const withModels = `{"model_endpoints": [
	{"name": "small", "api": "openai", "model": "s"}, {"name": "big", "api": "openai", "model": "b"}]}`

const modelAgents = `[
	{"id": "spec-model", "name": "S", "kind": "llm", "description": "d", "llm": {"stage": "spec", "prompt": "spec-reviewer"}},
	{"id": "quality-model", "name": "Q", "kind": "llm", "description": "d", "llm": {"prompt": "build-reviewer"}}]`

// modelPolicies disables the shipped agents.
const modelPolicies = `[{"id": "spec-llm", "enabled": false}, {"id": "universal-llm", "enabled": false}, {"id": "finance-llm", "enabled": false}, {"id": "ui-llm", "enabled": false},
	{"id": "models", "description": "d", "priority": 10, "trigger": {"type": "always"},
	"dispatch": {"agents": ["spec-model", "quality-model"], "required": true}}]`

// modelled is the shipped config with models and a repository's settings.
func modelled(t *testing.T, settings string) *config.Config {
	t.Helper()
	return modelledBy(t, modelPolicies, settings)
}

func modelledBy(t *testing.T, policies, settings string) *config.Config {
	t.Helper()
	cfg, problems := config.Load(
		config.Layer{Name: config.LayerServer, Files: []config.File{
			{Path: config.FileSettings, Text: []byte(withModels)},
			{Path: config.FileAgents, Text: []byte(modelAgents)},
			{Path: config.FileComposition, Text: []byte(policies)},
		}},
		config.Layer{Name: config.LayerRepository, Files: []config.File{{Path: config.FileSettings, Text: []byte(settings)}}},
	)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return cfg
}

// asked lists the reviews that models were asked for, in the order in which the last of each stage
// ended.
type asked struct {
	mu  sync.Mutex
	all []string
}

// agent answers differently by model.
func (a *asked) agent(by map[string]dispatch.Agent) dispatch.Agent {
	return agentFunc(func(ctx context.Context, task dispatch.Task) (pipeline.AgentOutput, error) {
		a.mu.Lock()
		a.all = append(a.all, task.Entry.Stage+" "+task.Model)
		a.mu.Unlock()
		if agent := by[task.Model]; agent != nil {
			answer, err := agent.Review(ctx, task)
			return answer.Output, err
		}
		return pipeline.AgentOutput{Model: "somebody else", Agent: "me"}, nil
	})
}

func (a *asked) sorted() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	slices.Sort(a.all)
	return a.all
}

func TestStages(t *testing.T) {
	earlier := func(context.Context, *pipeline.PRFacts) (*pipeline.PreviousReport, error) {
		return &pipeline.PreviousReport{}, nil
	}
	both := map[string]dispatch.Agent{"small": says(pipeline.SeverityMajor), "big": says(pipeline.SeverityMajor)}
	one := map[string]dispatch.Agent{"small": says(pipeline.SeverityMajor)}
	held := map[string]dispatch.Agent{"small": says(pipeline.SeverityCritical)}
	down := map[string]dispatch.Agent{"big": agentFunc(func(context.Context, dispatch.Task) (pipeline.AgentOutput, error) {
		return pipeline.AgentOutput{}, errors.New("down")
	})}
	spec, quality := []string{"spec big", "spec small"}, []string{"quality big", "quality small"}
	for name, test := range map[string]struct {
		settings string
		spec     map[string]dispatch.Agent
		previous func(context.Context, *pipeline.PRFacts) (*pipeline.PreviousReport, error)
		asked    []string
		quality  pipeline.AgentStatus // in the coverage
		decision pipeline.Decision
	}{
		"first review: all at once, although the spec stage fails": {spec: both, asked: append(quality, spec...), quality: pipeline.AgentDiscarded, decision: pipeline.DecisionNeedsFixes},
		"first review: one stage after the other, by the settings": {
			settings: `{"models": {"speculative_quality": false}}`, spec: both, asked: spec, quality: pipeline.AgentDiscarded, decision: pipeline.DecisionNeedsFixes,
		},
		"later review: the spec stage fails":     {spec: both, previous: earlier, asked: spec, quality: pipeline.AgentDiscarded, decision: pipeline.DecisionNeedsFixes},
		"later review: a person must decide":     {spec: held, previous: earlier, asked: spec, quality: pipeline.AgentDiscarded, decision: pipeline.DecisionNeedsFixes},
		"later review: one model proves nothing": {spec: one, previous: earlier, asked: append(quality, spec...), quality: pipeline.AgentOK, decision: pipeline.DecisionPassWithWarnings},
		"later review: the spec stage passes":    {previous: earlier, asked: append(quality, spec...), quality: pipeline.AgentOK, decision: pipeline.DecisionPass},
		"later review: a model is down":          {spec: down, previous: earlier, asked: append(quality, spec...), quality: pipeline.AgentOK, decision: pipeline.DecisionNeedsFixes},
		"only the stronger model": {
			settings: `{"models": {"strategy": "single"}}`, asked: []string{"quality big", "spec big"}, quality: pipeline.AgentOK, decision: pipeline.DecisionPass,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var a asked
			src := change(t)
			src.cfg = modelled(t, cmp.Or(test.settings, "{}"))
			r := newRunner(t, map[string]dispatch.Agent{"spec-model": a.agent(test.spec), "quality-model": a.agent(nil)})
			out, err := r.Run(t.Context(), src, Options{Previous: test.previous})
			if err != nil {
				t.Fatal(err)
			}
			report := &out.Review.Report
			if got := a.sorted(); !slices.Equal(got, test.asked) || report.Decision != test.decision {
				t.Errorf("asked %q, decision %s (%s); want %q, %s", got, report.Decision, report.Gate.Condition, test.asked, test.decision)
			}
			rows := 0
			for _, c := range report.Coverage {
				if c.Agent != "spec-model" && c.Agent != "quality-model" {
					continue
				}
				rows++
				if c.Model != "small" && c.Model != "big" || c.Agent == "quality-model" && c.Status != test.quality {
					t.Errorf("coverage of %s on %q: %s (%s), want %s", c.Agent, c.Model, c.Status, c.Note, test.quality)
				}
			}
			if rows != 2*len(out.Review.Manifest.Entry("spec-model").Models) || report.Models == nil {
				t.Errorf("%d rows of models, models %+v", rows, report.Models)
			}
		})
	}
}

// A stage that was skipped because the spec stage failed is asked once the spec stage no longer
// fails: nothing passes unreviewed.
func TestStageThatWasNotAskedIsNotCarried(t *testing.T) {
	c := newCarrying(t)
	var a asked
	c.runner.Agents["spec-model"] = a.agent(map[string]dispatch.Agent{"small": says(pipeline.SeverityMajor), "big": says(pipeline.SeverityMajor)})
	c.runner.Agents["quality-model"] = a.agent(nil)
	src := c.first()
	src.cfg = modelled(t, `{"models": {"speculative_quality": false}}`)
	was := c.review(src, Carry{})
	if got := a.sorted(); !slices.Equal(got, []string{"spec big", "spec small"}) {
		t.Fatalf("asked %q at first", got)
	}
	a.all = nil
	memory := func(context.Context, *pipeline.PRFacts, *pipeline.Classification) (pipeline.Memory, error) {
		var m pipeline.Memory
		for _, f := range was.Review.Report.Findings {
			for _, print := range f.Fingerprints {
				m.Dismissed = append(m.Dismissed, pipeline.Dismissal{Fingerprint: print, Reason: "r", By: "ann", Override: true})
			}
		}
		return m, nil
	}
	out, err := c.runner.Run(t.Context(), src, Options{Carry: c.after(was, Carry{SameHead: true}), Memory: memory})
	if err != nil {
		t.Fatal(err)
	}
	if got := a.sorted(); !slices.Equal(got, []string{"quality big", "quality small"}) || out.Review.Report.Decision != pipeline.DecisionPass {
		t.Errorf("asked %q, decision %s; want the quality stage, once the finding is dismissed", got, out.Review.Report.Decision)
	}
}

// As long as the spec stage's result stands, the quality stage is not asked, and its earlier
// findings don't count as fixed.
func TestQualityWaitsForASpecStageThatIsCarried(t *testing.T) {
	c := newCarrying(t)
	var a asked
	both := map[string]dispatch.Agent{"small": says(pipeline.SeverityMajor), "big": says(pipeline.SeverityMajor)}
	c.runner.Agents["spec-model"] = a.agent(both)
	c.runner.Agents["quality-model"] = a.agent(nil)
	src := c.first()
	src.cfg = modelled(t, `{"models": {"speculative_quality": false}}`)
	was := c.review(src, Carry{})
	a.all = nil
	before := pipeline.Finding{ID: "f", Fingerprints: pipeline.List[string]{"f"}, Agent: "quality-model", Model: "big", Reviewers: pipeline.List[string]{"quality-model"}, Title: "Before"}
	earlier := func(context.Context, *pipeline.PRFacts) (*pipeline.PreviousReport, error) {
		return &pipeline.PreviousReport{HeadSHA: "head-0", Findings: pipeline.List[pipeline.Finding]{before}}, nil
	}
	out, err := c.runner.Run(t.Context(), src, Options{Carry: c.after(was, Carry{SameHead: true}), Previous: earlier})
	if err != nil {
		t.Fatal(err)
	}
	report := &out.Review.Report
	if len(a.all) != 0 || report.Decision != pipeline.DecisionNeedsFixes || !slices.Contains(carriedOver(out), "spec-model") || slices.Contains(carriedOver(out), "quality-model") {
		t.Errorf("asked %q, carried %q, decision %s", a.all, carriedOver(out), report.Decision)
	}
	for _, r := range out.Review.Results {
		if r.Agent == "quality-model" && (r.Status != pipeline.AgentDiscarded || r.Note != noteNotAsked) {
			t.Errorf("%s on %s: %s (%s)", r.Agent, r.Model, r.Status, r.Note)
		}
	}
	if ch := report.Changes; len(ch.Resolved) != 0 || len(ch.Unconfirmed) != 1 {
		t.Errorf("resolved %+v, unconfirmed %+v", ch.Resolved, ch.Unconfirmed)
	}
}

// A model that does not answer is named in the coverage and delays the review at most by its
// timeout in each stage. If a policy requires its agent, the gate can't pass. Otherwise the gate
// decides as without it.
func TestModelsThatDoNotAnswer(t *testing.T) {
	hangs := func(ctx context.Context, _ dispatch.Task) (pipeline.AgentOutput, error) {
		<-ctx.Done()
		return pipeline.AgentOutput{}, ctx.Err()
	}
	fails := func(err error) agentFunc {
		return func(context.Context, dispatch.Task) (pipeline.AgentOutput, error) { return pipeline.AgentOutput{}, err }
	}
	none := agentFunc(func(context.Context, dispatch.Task) (pipeline.AgentOutput, error) { return pipeline.AgentOutput{}, nil })
	for name, tt := range map[string]struct {
		agent  agentFunc
		status pipeline.AgentStatus
		note   string
		slow   bool
	}{
		"down":        {fails(errors.New("the model can't be reached")), pipeline.AgentFailed, "can't be reached", false},
		"overloaded":  {fails(tempted{}), pipeline.AgentFailed, "overloaded", false},
		"slow":        {hangs, pipeline.AgentTimedOut, "no answer within", true},
		"over budget": {fails(&dispatch.SkippedError{Why: "over budget"}), pipeline.AgentSkipped, "over budget", false},
		"nonsense":    {fails(&dispatch.MalformedError{Err: errors.New("no JSON")}), pipeline.AgentMalformed, "no JSON", false},
		"it panics":   {func(context.Context, dispatch.Task) (pipeline.AgentOutput, error) { panic("boom") }, pipeline.AgentFailed, "an internal error", false},
	} {
		for _, required := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, required %t", name, required), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					src := change(t)
					src.cfg = modelledBy(t, strings.Replace(modelPolicies, `, "required": true`, fmt.Sprintf(`, "required": %t`, required), 1), `{"models": {"speculative_quality": false}}`)
					var a asked
					agent := a.agent(map[string]dispatch.Agent{"big": tt.agent, "small": none})
					start := time.Now()
					out, err := newRunner(t, map[string]dispatch.Agent{"spec-model": agent, "quality-model": agent}).Run(t.Context(), src, Options{})
					if err != nil {
						t.Fatal(err)
					}
					report := &out.Review.Report
					limit := time.Duration(src.cfg.Settings.Limits.AgentTimeoutSeconds) * time.Second
					if took := time.Since(start); took > 2*limit || tt.slow && took != 2*limit {
						t.Errorf("the review took %s, but each stage has %s", took, limit)
					}
					want := pipeline.DecisionPass
					if required {
						want = pipeline.DecisionNeedsFixes
					}
					if report.Decision != want || required && report.Gate.Condition != aggregate.Incomplete {
						t.Errorf("decision %s by %q, want %s", report.Decision, report.Gate.Condition, want)
					}
					rows := 0
					for _, c := range report.Coverage {
						if c.Model == "big" && c.Status == tt.status && strings.Contains(c.Note, tt.note) {
							rows++
						}
						if c.Model != "big" && c.Status != pipeline.AgentOK {
							t.Errorf("other findings changed: %+v", c)
						}
					}
					if rows != 2 || report.Models.AutoDecision != pipeline.AutoHuman {
						t.Errorf("%d of 2 rows tell of it, %s: %+v", rows, report.Models.AutoDecision, report.Coverage)
					}
				})
			})
		}
	}
}

// If a policy requires a model and the server has none, the change can't pass.
func TestMissingRequiredModel(t *testing.T) {
	for _, required := range []bool{true, false} {
		src := change(t)
		policy := modelPolicies
		if !required {
			policy = `[{"id": "models", "description": "d", "priority": 10, "trigger": {"type": "always"}, "dispatch": {"agents": ["spec-model", "quality-model"]}}]`
		}
		cfg, problems := config.Load(config.Layer{Name: config.LayerRepository, Files: []config.File{
			{Path: config.FileAgents, Text: []byte(modelAgents)}, {Path: config.FileComposition, Text: []byte(policy)},
		}})
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		src.cfg = cfg
		out, err := newRunner(t, nil).Run(t.Context(), src, Options{})
		if err != nil {
			t.Fatal(err)
		}
		shown := slices.ContainsFunc(out.Review.Report.Coverage, func(c pipeline.Coverage) bool {
			return c.Agent == "spec-model" && strings.Contains(c.Note, "model_endpoints")
		})
		skipped := slices.ContainsFunc(out.Review.Manifest.Skipped, func(s pipeline.SkippedAgent) bool { return s.Agent == "spec-model" })
		if d := out.Review.Report.Decision; d.Blocks() != required || shown != required || skipped {
			t.Errorf("required %t: %s, in the coverage %t, skipped %t", required, d, shown, skipped)
		}
	}
}
