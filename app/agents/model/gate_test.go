package model

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/reviewgate/reviewgate/app/llm"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/pipeline/normalize"
	"github.com/reviewgate/reviewgate/pipeline/raw"
	"github.com/reviewgate/reviewgate/pipeline/run"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// gated is a change whose gate is decided with models and without.
type gated struct {
	run           func(normalize.Source, run.Options) (run.Outcome, error)
	with, without []*config.Config // by the conditions of their gate
}

// gates have conditions of all kinds: the shipped ones, and conditions that more findings,
// fewer findings or higher confidence could open.
var gates = []string{
	`[{"when": "critical > 0", "decision": "fail"}, {"when": "major > 0", "decision": "needs_fixes"}, {"when": "warning > 0", "decision": "pass_with_warnings"}]`,
	`[{"when": "warning > 1", "decision": "pass_with_warnings"}, {"when": "uncovered_files > 0", "decision": "fail"}]`,
	`[{"when": "gaps > 1", "decision": "pass"}, {"when": "min_confidence < 1", "decision": "needs_fixes"}]`,
	`[{"when": "findings > 2", "decision": "pass"}, {"when": "new_findings > 0", "decision": "needs_fixes"}]`,
	`[{"when": "agents_failed > 0", "decision": "pass"}, {"when": "incomplete > 0", "decision": "pass_with_warnings"}, {"when": "major > 0", "decision": "needs_fixes"}]`,
	`[{"when": "critical > 0", "decision": "pass"}, {"when": "major == 1", "decision": "fail"}]`,
}

const gatedAgents = `[
	{"id": "asks-spec", "name": "Spec", "kind": "llm", "description": "d", "llm": {"stage": "spec", "prompt": "spec-reviewer"}},
	{"id": "asks-quality", "name": "Quality", "kind": "llm", "description": "d", "llm": {"prompt": "build-reviewer", "checklist": ["finds"]}},
	{"id": "finds", "name": "Finds", "kind": "rules", "description": "d"},
	{"id": "sent", "name": "Sent", "kind": "rules", "description": "d"}]`

const gatedPolicies = `[{"id": "spec-llm", "enabled": false}, {"id": "universal-llm", "enabled": false}, {"id": "finance-llm", "enabled": false}, {"id": "ui-llm", "enabled": false},
	{"id": "asked", "description": "d", "priority": 10, "trigger": {"type": "always"}, "dispatch": {"agents": ["asks-spec", "asks-quality"]}},
	{"id": "found", "description": "d", "priority": 10, "trigger": {"type": "path", "globs": ["shop/*.go"]}, "dispatch": {"agents": ["finds"], "required": true, "scope": "matched"}},
	{"id": "elsewhere", "description": "d", "priority": 5, "trigger": {"type": "path", "globs": ["elsewhere/**"]}, "dispatch": {"agents": ["sent"]}}]`

func gatedRules() string {
	rule := func(id, agent, severity, name, literal string) string {
		return fmt.Sprintf(`{"id": %q, "name": %q, "severity": %q, "agent": %q, "category": "correctness", "description": "d", "detection": "d", "recommendation": "Change it.", "match": {"literal": %q}}`,
			id, name, severity, agent, literal)
	}
	return "[" + strings.Join([]string{
		rule("own-divides", "finds", "major", "It divides", "total / len"),
		rule("own-length", "finds", "warning", "It counts", "len(c.items)"),
		rule("own-echo", "sent", "info", "It echoes", "echo"),
	}, ", ") + "]"
}

// engines are the compiled configs of all gates, which the tests share.
var engines = run.NewEngines()

func newGated(t *testing.T) *gated {
	runner, err := run.NewRunner(run.Config{Version: "v1", Now: time.Now, Engines: engines})
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	g := &gated{run: func(src normalize.Source, o run.Options) (run.Outcome, error) { return runner.Run(ctx, src, o) }}
	for _, conditions := range sample.Of(t, 3, gates) {
		g.with = append(g.with, gatedConfig(t, conditions, `"model_endpoints": [{"name": "a", "api": "openai", "model": "a"}, {"name": "b", "api": "openai", "model": "b"}], "models": {"gap_detector": "b", "verify": "b"}`))
		g.without = append(g.without, gatedConfig(t, conditions, `"models": {}`))
	}
	return g
}

func gatedConfig(t *testing.T, conditions, models string) *config.Config {
	cfg, problems := config.Load(config.Layer{Name: config.LayerServer, Files: []config.File{
		{Path: config.FileSettings, Text: []byte(`{"gate": {"conditions": ` + conditions + `}, ` + models + `, "limits": {"agent_retries": 0}}`)},
		{Path: config.FileAgents, Text: []byte(gatedAgents)}, {Path: config.FileComposition, Text: []byte(gatedPolicies)}, {Path: config.FileRules, Text: []byte(gatedRules())},
	}})
	for _, p := range problems {
		t.Fatal(config.FormatProblem(p))
	}
	return cfg
}

// source is the change of shop and a script, with a config.
type source struct{ config *config.Config }

func (source) PullRequest(context.Context) (raw.PullRequest, error) {
	return raw.PullRequest{
		Repository: pipeline.Repository{Owner: "acme", Name: "shop"}, Number: 1, Title: "feat: averages of carts", Body: "Adds the average of a cart.",
		Head: pipeline.Head{SHA: "h"}, Totals: pipeline.Totals{Files: 2},
	}, nil
}

func (source) Files(context.Context) (raw.Files, error) {
	return raw.Files{Files: []raw.ChangedFile{
		{Path: "shop/cart.go", Status: pipeline.FileModified, Additions: 2, Deletions: 1, Patch: "@@ -10,2 +10,3 @@\n func average() int {\n-\treturn 0\n+\treturn total / len(c.items)\n+}  // len(c.items)"},
		{Path: "run.sh", Status: pipeline.FileAdded, Additions: 1, Patch: "@@ -0,0 +1 @@\n+echo averages of carts"},
	}}, nil
}

func (source) Commits(context.Context) (raw.Commits, error) { return raw.Commits{}, nil }

func (s source) Config(context.Context) (normalize.ConfigRead, error) {
	return normalize.ConfigRead{Config: s.config}, nil
}

// answers are the models' answers, by the name of the model and the kind of question.
type answers map[string]string

// spokesman is a model that gives its part of the answers.
type spokesman struct {
	name    string
	answers answers
	asked   *sync.Map
}

func (s spokesman) Ask(_ context.Context, q llm.Question) (llm.Answer, error) {
	what := s.name + " quality"
	switch {
	case q.Schema.Name == "review_verdict":
		what = s.name + " verifies"
	case q.Schema.Name != "review_findings":
		what = s.name + " gaps"
	case strings.Contains(q.Text, "# Specification reviewer\n"):
		what = s.name + " spec"
	}
	s.asked.Store(what, true)
	return llm.Answer{Text: s.answers[what]}, nil
}

// review runs the whole pipeline. Without answers it runs without models.
func (g *gated) review(t rapid.TB, gate int, said answers, last *pipeline.Report) *pipeline.Report {
	o, src := run.Options{}, source{g.without[gate]}
	var asked sync.Map
	if said != nil {
		server := &Server{endpoints: map[string]Endpoint{}}
		for _, name := range []string{"a", "b"} {
			server.endpoints[name] = Endpoint{Model: spokesman{name, said, &asked}, ModelEndpoint: config.ModelEndpoint{Name: name}}
		}
		src = source{g.with[gate]}
		o.IOAgents = func(of run.IOAgent) dispatch.Agent {
			if of.Agent.Kind != config.KindLLM {
				return nil
			}
			a, err := server.Agent(of.Agent, of.Config, Needs{Redact: of.Redact})
			if err != nil {
				t.Error(err)
			}
			return a
		}
		o.GapModel = func(of run.IOAgent) run.GapModel {
			a, err := server.Gaps(of.Config, Needs{Redact: of.Redact})
			if err != nil {
				t.Error(err)
			}
			return a
		}
		o.Verifier = func(of run.IOAgent) run.Verifier {
			v, err := server.Verifier(of.Config, Needs{Redact: of.Redact})
			if err != nil {
				t.Error(err)
			}
			return v
		}
	}
	if last != nil {
		o.Previous = func(context.Context, *pipeline.PRFacts) (*pipeline.PreviousReport, error) {
			return &pipeline.PreviousReport{HeadSHA: "g", Findings: last.Findings, Unconfirmed: last.Changes.Unconfirmed, Fixed: last.Changes.Fixed, Iteration: last.Iteration}, nil
		}
	}
	out, err := g.run(src, o)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := asked.Load("a spec"); said != nil && !ok {
		t.Fatal("no model was asked")
	}
	return &out.Review.Report
}

// holds compares the two decisions in the first review and in the one after it.
func (g *gated) holds(t rapid.TB, gate int, first, later answers) {
	alone, with := g.review(t, gate, nil, nil), g.review(t, gate, first, nil)
	for _, when := range []string{"first", "later"} {
		if with.Decision.Rank() < alone.Decision.Rank() {
			t.Errorf("%s, gate %d: %s by %q without models, %s by %q with them", when, gate, alone.Decision, alone.Gate.Condition, with.Decision, with.Gate.Condition)
		}
		for _, f := range alone.Findings {
			if !stays(f, with) {
				t.Errorf("%s, gate %d: %q, which counts as %s, is missing or counts less with models: %+v", when, gate, f.Title, f.GateSeverity, with.Findings)
			}
		}
		text, err := json.Marshal(with)
		if err != nil {
			t.Fatal(err)
		}
		if err := config.ValidateData(config.SchemaReviewReport, text); err != nil {
			t.Error(err)
		}
		if when == "first" {
			alone, with = g.review(t, gate, nil, alone), g.review(t, gate, later, with)
		}
	}
}

// stays reports whether findings without models count as much with them.
func stays(f pipeline.Finding, with *pipeline.Report) bool {
	for _, w := range with.Findings {
		for _, id := range w.Fingerprints {
			if id == f.ID && w.GateSeverity.Rank() >= f.GateSeverity.Rank() {
				return true
			}
		}
	}
	return false
}

// Models answer with any bytes, which pass through their agents and all stages. The gate is
// never looser than without models.
func TestAnyAnswerAtTheGate(t *testing.T) {
	agreeing := answerOf(echoed("It divides", "own-divides", "info", 1, "keep"), echoed("It counts", "", "critical", 0.2, "remove"))
	warnings := answerOf(echoed("A warning", "", "warning", 1, "none"), echoed("Another", "", "warning", 1, "none"), echoed("A third", "", "info", 1, "none"))
	same := func(text, gaps string) answers {
		return answers{"a spec": text, "b spec": text, "a quality": text, "b quality": text, "b gaps": gaps}
	}
	refuted := verdictOf("refuted", "return total / len(c.items)", "It can't happen.")
	g := newGated(t)
	for gate := range g.with {
		for _, said := range []answers{
			same("", ""), same(none, gapsOf(echo("sent"))), same(agreeing, gapsOf(echo("finds"))), same("\x00\xff", `{"gaps": [{}]}`),
			{"a spec": none, "b spec": agreeing, "a quality": warnings, "b quality": `{"decision": "pass", "findings": []}`, "b gaps": "[[[["},
			{"a spec": agreeing, "a quality": agreeing, "b spec": none, "b quality": none, "b verifies": refuted},
		} {
			g.holds(t, gate, said, said)
		}
	}
	sample.Check(t, func(rt *rapid.T) {
		text := rapid.OneOf(rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }), rapid.String(), rapid.SampledFrom([]string{agreeing, warnings, gapsOf(echo("sent")), refuted}))
		said := answers{}
		for _, what := range []string{"a spec", "b spec", "a quality", "b quality", "b gaps", "b verifies"} {
			s := text.Draw(rt, what)
			if at := rapid.IntRange(0, len(s)).Draw(rt, "cut"); rapid.Bool().Draw(rt, "torn") {
				s = s[:at] + text.Draw(rt, "rest")
			}
			said[what] = s
		}
		g.holds(rt, rapid.IntRange(0, len(g.with)-1).Draw(rt, "gate"), said, said)
	})
}

// echo is a gap that adds an agent to a file without one.
func echo(agent string) string {
	return gap(map[string]any{"path": "run.sh", "quote": "echo averages of carts", "agent": agent, "missed": "It echoes.", "concern": "echo"})
}

// echoed is a finding about the same line as a finding of the rules.
func echoed(title, rule, severity string, confidence float64, action string) string {
	return finding(map[string]any{
		"title": title, "rule_id": rule, "severity": severity, "confidence": confidence, "action": action,
		"start_line": 11, "end_line": 11, "recommendation": "Do it.", "category": "scope",
	})
}

// The same holds for answers that repeat the rules' findings, and for one model against
// another.
func TestModelsRepeatTheRules(t *testing.T) {
	g := newGated(t)
	sample.Check(t, func(rt *rapid.T) {
		one := rapid.Custom(func(t *rapid.T) string {
			return echoed(
				rapid.SampledFrom([]string{"It divides", "It counts", "it DIVIDES!", "Else"}).Draw(t, "title"), rapid.SampledFrom([]string{"", "own-divides", "own-length"}).Draw(t, "rule"),
				rapid.SampledFrom([]string{"critical", "major", "warning", "info"}).Draw(t, "severity"), rapid.SampledFrom([]float64{0, 0.4, 0.9, 1}).Draw(t, "confidence"),
				rapid.SampledFrom([]string{"add", "remove", "keep", "none"}).Draw(t, "action"),
			)
		})
		draw := func() answers {
			said := answers{}
			for _, what := range []string{"a spec", "b spec", "a quality", "b quality"} {
				said[what] = rapid.OneOf(rapid.Just("none of that"), rapid.Map(rapid.SliceOfN(one, 0, 3), func(all []string) string { return answerOf(all...) })).Draw(rt, what)
			}
			said["b gaps"] = rapid.SampledFrom([]string{"", gapsOf(), gapsOf(echo("sent")), gapsOf(echo("finds"), echo("sent"))}).Draw(rt, "gaps")
			said["b verifies"] = rapid.SampledFrom([]string{"", verdictOf("confirmed", "return total / len(c.items)", "x"), verdictOf("refuted", "return total / len(c.items)", "x"), verdictOf("unclear", "", "")}).Draw(rt, "verdict")
			return said
		}
		g.holds(rt, rapid.IntRange(0, len(g.with)-1).Draw(rt, "gate"), draw(), draw())
	})
}
