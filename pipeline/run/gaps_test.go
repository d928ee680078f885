package run

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/pipeline/gapdetect"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// gapModel makes the given proposals and records its questions.
type gapModel struct {
	proposals []gapdetect.Proposal
	note      string
	err       error
	ask       func(context.Context) // called instead, if set

	mu     sync.Mutex
	asked  []GapChoice
	of     IOAgent
	models []string
}

func (g *gapModel) Gaps(ctx context.Context, task dispatch.Task, choice GapChoice) ([]gapdetect.Proposal, string, error) {
	g.mu.Lock()
	g.asked, g.models = append(g.asked, choice), append(g.models, task.Entry.Agent+" "+task.Model)
	g.mu.Unlock()
	if g.ask != nil {
		g.ask(ctx)
	}
	g.of.Used(pipeline.ModelUse{Agent: task.Entry.Agent, Model: task.Model, Asked: 1, Input: 100})
	return g.proposals, g.note, g.err
}

func (g *gapModel) forAgent(of IOAgent) GapModel {
	g.of = of
	return g
}

const withGaps = `{"models": {"gap_detector": "big"}}`

// missed returns two confirmed gaps in change, one of them for a model's agent, and one unconfirmed
// gap.
func missed() []gapdetect.Proposal {
	p := gapdetect.Proposal{Concern: "rounding", Path: "src/pricing/total.ts", Quote: "const a = 2;", Missed: "A total is written here.", Agent: "design-auditor", Confidence: 0.9}
	q, r := p, p
	q.Agent, r.Quote = "extra-model", "const b = 2;"
	return []gapdetect.Proposal{p, q, r}
}

// gapped returns a config with a model as gap detector and an agent of the kind llm that no policy
// chooses.
func gapped(t *testing.T, settings string) *config.Config {
	t.Helper()
	cfg, problems := config.Load(
		config.Layer{Name: config.LayerServer, Files: []config.File{
			{Path: config.FileSettings, Text: []byte(withModels)},
			{Path: config.FileAgents, Text: []byte(`[{"id": "extra-model", "name": "E", "kind": "llm", "description": "d", "llm": {"prompt": "build-reviewer"}}]`)},
			{Path: config.FileComposition, Text: []byte(`[{"id": "spec-llm", "enabled": false}, {"id": "universal-llm", "enabled": false},
				{"id": "finance-llm", "enabled": false}, {"id": "ui-llm", "enabled": false}]`)},
		}},
		config.Layer{Name: config.LayerRepository, Files: []config.File{{Path: config.FileSettings, Text: []byte(settings)}}},
	)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return cfg
}

func reviewGaps(t *testing.T, settings string, o Options) Outcome {
	t.Helper()
	src := change(t)
	src.cfg = gapped(t, settings)
	var a asked
	out, err := newRunner(t, map[string]dispatch.Agent{"extra-model": a.agent(nil)}).Run(t.Context(), src, o)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func stored(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func gapRow(r *pipeline.Report) pipeline.Coverage {
	for _, c := range r.Coverage {
		if c.Agent == pipeline.GapDetector {
			return c
		}
	}
	return pipeline.Coverage{}
}

func TestModelIsAskedForGaps(t *testing.T) {
	g := &gapModel{proposals: missed(), note: "shown in part: a.go"}
	out := reviewGaps(t, withGaps, Options{GapModel: g.forAgent})
	v := &out.Review
	if len(g.asked) != 1 || g.models[0] != "gap-detector big" || g.of.Agent.ID != pipeline.GapDetector {
		t.Fatalf("asked %q for %s", g.models, g.of.Agent.ID)
	}
	if e := g.asked[0].Manifest.Entry("finance-sme"); e == nil || !slices.Contains(e.Scope.Files, "src/cart/view.ts") {
		t.Error("the model was not shown the agents that the signals chose")
	}
	if !slices.ContainsFunc(g.asked[0].Agents, func(a config.Agent) bool { return a.ID == "extra-model" && a.Description != "" }) {
		t.Errorf("the model was not shown all agents: %+v", g.asked[0].Agents)
	}
	var sources []string
	for _, e := range v.Report.GapLog {
		sources = append(sources, e.Source+" "+e.Agent)
	}
	if want := []string{"signals finance-sme", "big design-auditor", "big extra-model"}; !slices.Equal(sources, want) {
		t.Errorf("gaps by %q, want %q", sources, want)
	}
	if e := v.Manifest.Entry("extra-model"); e == nil || e.AddedBy != pipeline.AddedByGapDetect || e.Stage != pipeline.ReviewStageQuality || !slices.Equal(e.Models, []string{"small", "big"}) {
		t.Errorf("extra-model's entry is %+v", e)
	}
	row := gapRow(&v.Report)
	if want := "1 of 3 proposals dropped: 1 quoting what the change does not add there; shown in part: a.go"; row.Status != pipeline.AgentOK || row.Model != "big" || row.Note != want {
		t.Errorf("coverage %+v, want the note %q", row, want)
	}
	if v.Report.Models == nil || len(v.Report.Models.Verdicts) != 2 || len(v.Report.Incomplete) != 0 {
		t.Errorf("models %+v, incomplete %+v", v.Report.Models, v.Report.Incomplete)
	}
	if use := out.Record.ModelUse; len(use) != 1 || use[0].Agent != pipeline.GapDetector || use[0].Input != 100 {
		t.Errorf("model use %+v", use)
	}
	if !slices.ContainsFunc(out.Record.Agents, func(a pipeline.AgentTiming) bool {
		return a.Agent == pipeline.GapDetector && a.Model == "big" && a.Attempts == 1
	}) {
		t.Errorf("timings %+v", out.Record.Agents)
	}
	if n := len(out.Record.Stages); n != 6 {
		t.Errorf("%d stages were timed: %+v", n, out.Record.Stages)
	}
	if err := config.ValidateData(config.SchemaReviewReport, []byte(stored(t, v.Report))); err != nil {
		t.Error(err)
	}
}

// A model that only looks for gaps reviews nothing, so it has no verdict.
func TestGapDetectorHasNoVerdict(t *testing.T) {
	g := &gapModel{}
	out := reviewGaps(t, withGaps, Options{GapModel: g.forAgent})
	if len(g.asked) != 1 || out.Review.Report.Models != nil || gapRow(&out.Review.Report).Status != pipeline.AgentOK {
		t.Errorf("asked %d times, models %+v, coverage %+v", len(g.asked), out.Review.Report.Models, gapRow(&out.Review.Report))
	}
}

func TestNoGapQuestionWithoutAModel(t *testing.T) {
	plain := stored(t, reviewGaps(t, "{}", Options{}).Review)
	g := &gapModel{proposals: missed()}
	if got := stored(t, reviewGaps(t, "{}", Options{GapModel: g.forAgent}).Review); got != plain || len(g.asked) != 0 {
		t.Errorf("asked %d times although the settings name no model", len(g.asked))
	}
	src := change(t)
	cfg, problems := config.Load(config.Layer{Name: config.LayerRepository, Files: []config.File{{Path: config.FileSettings, Text: []byte(withGaps)}}})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	src.cfg = cfg
	out, err := newRunner(t, nil).Run(t.Context(), src, Options{GapModel: g.forAgent})
	if err != nil || len(g.asked) != 0 || gapRow(&out.Review.Report).Agent != "" {
		t.Errorf("%v; asked %d times although the server has no model, coverage %+v", err, len(g.asked), gapRow(&out.Review.Report))
	}
}

// tempted is an error that asks for a retry.
type tempted struct{}

func (tempted) Error() string   { return "the model's API is overloaded" }
func (tempted) Temporary() bool { return true }

// A model that does not answer changes nothing except its own row, and never gates.
func TestModelThatFailsToFindGaps(t *testing.T) {
	hangs := func(ctx context.Context) { <-ctx.Done() }
	for name, tc := range map[string]struct {
		model  *gapModel
		nobody bool
		status pipeline.AgentStatus
		note   string
		asked  int
	}{
		"down":          {model: &gapModel{err: errors.New("the model can't be reached")}, status: pipeline.AgentFailed, note: "can't be reached", asked: 1},
		"overloaded":    {model: &gapModel{err: tempted{}}, status: pipeline.AgentFailed, note: "overloaded", asked: 3},
		"over budget":   {model: &gapModel{err: &dispatch.SkippedError{Why: "over budget"}}, status: pipeline.AgentSkipped, note: "over budget", asked: 1},
		"unreadable":    {model: &gapModel{err: &dispatch.MalformedError{Err: errors.New("line 1: no JSON")}}, status: pipeline.AgentMalformed, note: "no JSON", asked: 1},
		"it hangs":      {model: &gapModel{ask: hangs}, status: pipeline.AgentTimedOut, note: "no answer within", asked: 1},
		"it panics":     {model: &gapModel{ask: func(context.Context) { panic("boom") }}, status: pipeline.AgentFailed, note: "an internal error", asked: 1},
		"there is none": {model: &gapModel{}, nobody: true, status: pipeline.AgentFailed, note: "not registered"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tc.model.proposals = missed()
				plain := reviewGaps(t, withGaps, Options{})
				start := time.Now()
				out := reviewGaps(t, withGaps, Options{GapModel: func(of IOAgent) GapModel {
					if tc.nobody {
						return nil
					}
					return tc.model.forAgent(of)
				}})
				limit := time.Duration(plain.Config.Settings.Limits.AgentTimeoutSeconds) * time.Second
				if took := time.Since(start); took > limit {
					t.Errorf("the review took %s, longer than the %s of its timeout", took, limit)
				}
				report := &out.Review.Report
				tc.model.mu.Lock() // a model that hangs may still be running
				asked := len(tc.model.asked)
				tc.model.mu.Unlock()
				if row := gapRow(report); row.Status != tc.status || !strings.Contains(row.Note, tc.note) || asked != tc.asked {
					t.Errorf("coverage %+v after %d questions; want %s, %q after %d", row, asked, tc.status, tc.note, tc.asked)
				}
				without, with := &plain.Review, &out.Review
				if stored(t, without.Manifest) != stored(t, with.Manifest) || stored(t, without.Report.GapLog) != stored(t, report.GapLog) || stored(t, without.Report.Findings) != stored(t, report.Findings) {
					t.Error("the failure changed the report")
				}
				named := slices.ContainsFunc(report.Incomplete, func(i pipeline.Incompleteness) bool {
					return !i.Gating && strings.Contains(i.Why, pipeline.GapDetector)
				})
				if report.Decision != without.Report.Decision || !named || slices.ContainsFunc(report.Incomplete, func(i pipeline.Incompleteness) bool { return i.Gating }) {
					t.Errorf("decision %s, before %s; incomplete %+v", report.Decision, without.Report.Decision, report.Incomplete)
				}
			})
		})
	}
}

// Even a gate that counts failed agents ignores it.
func TestFailedGapDetectorIsNotAFailedAgent(t *testing.T) {
	g := &gapModel{err: errors.New("down")}
	out := reviewGaps(t, `{"models": {"gap_detector": "big"}, "gate": {"conditions": [{"when": "agents_failed > 0", "decision": "fail"}]}}`, Options{GapModel: g.forAgent})
	if d := out.Review.Report.Decision; d.Blocks() || len(g.asked) == 0 {
		t.Errorf("decision %s", d)
	}
}

// A model's use that is reported after the review's end does not change the outcome.
func TestUseReportedLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan struct{})
		g := &gapModel{ask: func(context.Context) { <-ended }}
		out := reviewGaps(t, withGaps, Options{GapModel: g.forAgent})
		close(ended)
		synctest.Wait()
		if row := gapRow(&out.Review.Report); row.Status != pipeline.AgentTimedOut || len(out.Record.ModelUse) != 0 {
			t.Errorf("coverage %+v, use %+v", row, out.Record.ModelUse)
		}
	})
}

// A cancelled review asks no more questions and has no outcome.
func TestGapsOfACancelledReview(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	superseded := errors.New("superseded")
	g := &gapModel{ask: func(ctx context.Context) {
		cancel(superseded)
		<-ctx.Done()
	}}
	src := change(t)
	src.cfg = gapped(t, withGaps)
	if _, err := newRunner(t, nil).Run(ctx, src, Options{GapModel: g.forAgent}); !errors.Is(err, superseded) {
		t.Errorf("Run = %v, want that it was superseded", err)
	}
}

// If facts and config are equal, the last answer stands: on the same head if nobody asks for a new
// one, and after a merge of the base. The result is the same.
func TestLastGapsAreReused(t *testing.T) {
	for name, tc := range map[string]struct {
		carry   Carry
		head    string
		change  func(*pushed)
		version string
		err     error
		asked   int
	}{
		"only the decision is made again": {carry: Carry{SameHead: true}},
		"asked for again":                 {asked: 1},
		"only the gap detector":           {carry: Carry{SameHead: true, Rerun: []string{pipeline.GapDetector}}, asked: 1},
		"brought up to date":              {head: "head-2"},
		"another change":                  {head: "head-2", change: func(s *pushed) { s.files[1].Patch = strings.Replace(s.files[1].Patch, "= 1", "= 0", 1) }, asked: 1},
		"another title":                   {carry: Carry{SameHead: true}, change: func(s *pushed) { s.title = "fix: other things" }, asked: 1},
		"another model":                   {carry: Carry{SameHead: true}, change: func(s *pushed) { s.cfg = nil }, asked: 1},
		"another version of reviewgate":   {carry: Carry{SameHead: true}, version: "v0", asked: 1},
		"the last answer was a failure":   {carry: Carry{SameHead: true}, err: errors.New("down"), asked: 1},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCarrying(t)
			var a asked
			c.runner.Agents["extra-model"] = a.agent(nil)
			g := &gapModel{proposals: missed(), err: tc.err}
			src := c.first()
			src.cfg = gapped(t, withGaps)
			run := func(o Options) Outcome {
				o.GapModel = g.forAgent
				out, err := c.runner.Run(t.Context(), src, o)
				if err != nil {
					t.Fatal(err)
				}
				return out
			}
			was := run(Options{})
			if tc.version != "" {
				was.Record.Version = tc.version
			}
			g.asked, g.err = nil, nil
			src.head = cmp.Or(tc.head, src.head)
			if tc.change != nil {
				tc.change(src)
			}
			if src.cfg == nil {
				src.cfg = gapped(t, `{"models": {"gap_detector": "small"}}`)
				src.cfg.InForce.Version = "another"
			}
			out := run(Options{Carry: c.after(was, tc.carry)})
			if len(g.asked) != tc.asked {
				t.Fatalf("asked %d times, want %d", len(g.asked), tc.asked)
			}
			if tc.asked > 0 {
				return
			}
			if stored(t, was.Review.Manifest) != stored(t, out.Review.Manifest) || stored(t, was.Review.Report.GapLog) != stored(t, out.Review.Report.GapLog) {
				t.Errorf("manifest or log differ:\n%s\n%s", stored(t, was.Review.Manifest), stored(t, out.Review.Manifest))
			}
			row := gapRow(&out.Review.Report)
			if row.Status != pipeline.AgentOK || !strings.HasPrefix(row.Note, "1 of 3 proposals dropped") || len(out.Record.ModelUse) != 0 {
				t.Errorf("coverage %+v, use %+v", row, out.Record.ModelUse)
			}
			if !slices.Contains(carriedOver(out), pipeline.GapDetector) || !slices.Contains(carriedOver(out), "extra-model") {
				t.Errorf("carried over %q", carriedOver(out))
			}
			// The carried answer can be carried again.
			if again := run(Options{Carry: c.after(out, Carry{SameHead: true})}); len(g.asked) != 0 || stored(t, again.Review.Report.GapLog) != stored(t, was.Review.Report.GapLog) {
				t.Errorf("asked %d times the second time", len(g.asked))
			}
		})
	}
}

// A stored review has everything that its report is made from.
func TestReviewWithGapsReplays(t *testing.T) {
	for _, err := range []error{nil, errors.New("down")} {
		g := &gapModel{proposals: missed(), err: err}
		out := reviewGaps(t, withGaps, Options{GapModel: g.forAgent})
		var v pipeline.Review
		if err := json.Unmarshal([]byte(stored(t, out.Review)), &v); err != nil {
			t.Fatal(err)
		}
		replays(t, newRunner(t, map[string]dispatch.Agent{"extra-model": (&asked{}).agent(nil)}), v, out.Config)
	}
}

// A model's words are shown without secrets, from any source.
func TestGapsHaveNoSecrets(t *testing.T) {
	token := "ghp_" + "x7Kq2mVb9ZtR4sWc8YhJ1nDf6LgP3aEuT5oQ"
	g := &gapModel{proposals: missed()}
	g.proposals[0].Concern, g.proposals[0].Missed = "about "+token, "It says "+token[:20]+"\u200b"+token[20:]+" there."
	out := reviewGaps(t, withGaps, Options{GapModel: g.forAgent})
	if text := stored(t, out.Review); strings.Contains(text, token) || len(out.Review.Report.GapLog) != 3 {
		t.Errorf("%d gaps, or a secret in %+v", len(out.Review.Report.GapLog), out.Review.Report.GapLog)
	}
}

// The trial of a proposed config has the same gaps if the model would be asked.
func TestProposedConfigKeepsTheModelsGaps(t *testing.T) {
	for settings, gone := range map[string][]string{withGaps: nil, "{}": {"design-auditor", "extra-model"}} {
		g := &gapModel{proposals: missed()}
		src := configChange(t)
		src.cfg = gapped(t, withGaps)
		var a asked
		out, err := newRunner(t, map[string]dispatch.Agent{"extra-model": a.agent(nil)}).Run(t.Context(), src, Options{
			GapModel: g.forAgent, Proposed: func(context.Context, *pipeline.PRFacts) (*config.Config, error) { return gapped(t, settings), nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		p := out.Review.Report.ProposedConfig
		if p.Note != "" || !slices.Equal(p.AgentsGone, gone) || len(p.AgentsAdded) != 0 || len(g.asked) != 1 {
			t.Errorf("%s: note %q, gone %q, added %q, asked %d times", settings, p.Note, p.AgentsGone, p.AgentsAdded, len(g.asked))
		}
	}
}

// A model's proposals never make the gate milder.
func TestGapsNeverLoosenTheGate(t *testing.T) {
	src := change(t)
	src.cfg = gapped(t, withGaps)
	var a asked
	r := newRunner(t, map[string]dispatch.Agent{"extra-model": a.agent(nil), "finance-sme": says("P1")})
	plain, err := r.Run(t.Context(), src, Options{})
	if err != nil || !plain.Review.Report.Decision.Blocks() {
		t.Fatalf("%v, decision %s", err, plain.Review.Report.Decision)
	}
	text := rapid.OneOf(rapid.SampledFrom([]string{"const a = 2;", "const sum = grossAmount * quantity;", "src/pricing/total.ts", "src/cart/view.ts"}), rapid.String())
	agents := rapid.SampledFrom([]string{"finance-sme", "design-auditor", "extra-model", "security-reviewer", "secrets", pipeline.GapDetector, "nobody"})
	sample.Check(t, func(rt *rapid.T) {
		g := &gapModel{note: text.Draw(rt, "note")}
		for range rapid.IntRange(0, 4).Draw(rt, "proposals") {
			g.proposals = append(g.proposals, gapdetect.Proposal{
				Concern: text.Draw(rt, "concern"), Path: text.Draw(rt, "path"), Quote: text.Draw(rt, "quote"), Missed: text.Draw(rt, "missed"),
				Agent: agents.Draw(rt, "agent"), Confidence: rapid.Float64().Draw(rt, "confidence"),
			})
		}
		out, err := r.Run(t.Context(), src, Options{GapModel: g.forAgent})
		if err != nil {
			rt.Fatal(err)
		}
		with, without := &out.Review.Report, &plain.Review.Report
		if !with.Decision.Blocks() || with.Counts.Major < without.Counts.Major || with.Counts.Critical < without.Counts.Critical {
			rt.Fatalf("decision %s with %+v, and without the model %s with %+v", with.Decision, with.Counts, without.Decision, without.Counts)
		}
		for _, e := range plain.Review.Manifest.Entries {
			if out.Review.Manifest.Entry(e.Agent) == nil {
				rt.Fatalf("%s does not run any more", e.Agent)
			}
		}
	})
}

// If the spec stage failed, quality findings are suppressed, but the gap detector's row stays.
func TestGapsStandWhereTheSpecStageFails(t *testing.T) {
	var a asked
	src := change(t)
	src.cfg = modelled(t, withGaps)
	both := map[string]dispatch.Agent{"small": says(pipeline.SeverityMajor), "big": says(pipeline.SeverityMajor)}
	g := &gapModel{proposals: missed()[:1]}
	out, err := newRunner(t, map[string]dispatch.Agent{"spec-model": a.agent(both), "quality-model": a.agent(nil)}).Run(t.Context(), src, Options{GapModel: g.forAgent})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range out.Review.Report.Coverage {
		want := pipeline.AgentOK
		if c.Agent == "quality-model" {
			want = pipeline.AgentDiscarded
		}
		if c.Status != want {
			t.Errorf("%s on %q: %s, want %s", c.Agent, c.Model, c.Status, want)
		}
	}
	if len(out.Review.Report.GapLog) != 2 || len(out.Review.Report.Models.Verdicts) != 2 {
		t.Errorf("gaps %+v, verdicts %+v", out.Review.Report.GapLog, out.Review.Report.Models.Verdicts)
	}
}
