package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/pipeline/raw"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// wordRule is a rule that finds a word.
func wordRule(id, agent, word, more string) string {
	return fmt.Sprintf(`{"id": %q, "name": "Banned word", "severity": "major", "agent": %q, "category": "words",
		"description": "The word is not ours.", "detection": "The word", "recommendation": "Delete it.", "match": {"literal": %q}%s}`, id, agent, word, more)
}

// evaluated reviews a change that adds the lines to src/a.go under a repository's config, and checks
// that a replay makes the same report.
func evaluated(t *testing.T, agents map[string]dispatch.Agent, files map[string]string, lines ...string) pipeline.Review {
	t.Helper()
	cfg, problems := config.Load(layerOf(config.LayerRepository, files))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	r := newRunner(t, agents)
	change := &inMemory{cfg: cfg, files: []raw.ChangedFile{{
		Path: "src/a.go", Status: pipeline.FileAdded, Additions: len(lines),
		Patch: fmt.Sprintf("@@ -0,0 +1,%d @@\n+%s", len(lines), strings.Join(lines, "\n+")),
	}}}
	out, err := r.Run(t.Context(), change, Options{})
	if err != nil {
		t.Fatal(err)
	}
	replays(t, r, out.Review, cfg)
	return out.Review
}

// apart puts other lines between the lines, so that findings about them are not merged.
func apart(lines ...string) (out []string) {
	for i, line := range lines {
		out = append(out, line)
		for j := range 10 {
			out = append(out, fmt.Sprintf("var x%d%d int", i, j))
		}
	}
	return out
}

// found lists the rules of findings, sorted.
func found(findings []pipeline.Finding) (ids []string) {
	for i := range findings {
		ids = append(ids, findings[i].RuleID)
	}
	slices.Sort(ids)
	return ids
}

func TestRuleInEvaluation(t *testing.T) {
	v := evaluated(t, nil, map[string]string{config.FileRules: "[" +
		wordRule("tried", "build-reviewer", "frobnicate", `, "mode": "evaluate"`) + "," + wordRule("enforced", "build-reviewer", "blurb", "") + "]"},
		apart("package a // frobnicate", "var frobnicate = 1", "// blurb", "// blurb frobnicate")...)
	e := v.Report.Evaluation
	if e == nil {
		t.Fatal("there is no evaluation")
	}
	if got := found(v.Report.Findings); slices.Contains(got, "tried") || !slices.Contains(got, "enforced") {
		t.Errorf("enforced findings: %v", got)
	}
	if got := found(e.Findings); !slices.Equal(got, []string{"tried", "tried", "tried"}) {
		t.Errorf("findings in evaluation: %v", got)
	}
	for _, f := range v.Report.Findings {
		if len(f.Fingerprints) != 1 || len(f.Reasons) > 0 {
			t.Errorf("%s was merged or changed: %v %v", f.RuleID, f.Fingerprints, f.Reasons)
		}
	}
	if got := v.Report.Coverage; slices.ContainsFunc(got, func(c pipeline.Coverage) bool { return c.Agent == "build-reviewer" && c.Findings > 2 }) {
		t.Errorf("the coverage counts what is in evaluation: %+v", got)
	}
}

// The evaluation says what the gate would decide.
func TestEvaluationSaysWhatItWouldBlock(t *testing.T) {
	gate := `{"gate": {"conditions": [{"when": "major >= 2", "decision": "needs_fixes"}, {"when": "major >= 1", "decision": "pass_with_warnings"}]}}`
	for _, c := range []struct {
		lines     []string
		enforced  pipeline.Decision
		decision  pipeline.Decision
		condition string
	}{
		{[]string{"package a"}, pipeline.DecisionPass, pipeline.DecisionPass, ""},
		{[]string{"package a // frobnicate"}, pipeline.DecisionPass, pipeline.DecisionPassWithWarnings, "major >= 1"},
		{[]string{"package a // frobnicate", "// blurb"}, pipeline.DecisionPassWithWarnings, pipeline.DecisionNeedsFixes, "major >= 2"},
		{[]string{"package a // blurb", "// blurb", "// frobnicate"}, pipeline.DecisionNeedsFixes, pipeline.DecisionNeedsFixes, ""},
	} {
		v := evaluated(t, nil, map[string]string{config.FileSettings: gate, config.FileRules: "[" +
			wordRule("tried", "build-reviewer", "frobnicate", `, "mode": "evaluate"`) + "," + wordRule("enforced", "build-reviewer", "blurb", "") + "]"}, apart(c.lines...)...)
		e := v.Report.Evaluation
		if v.Report.Decision != c.enforced || e.Decision != c.decision || e.Condition != c.condition {
			t.Errorf("%q: the gate says %s, and %s by %q in evaluation; want %s, and %s by %q", c.lines, v.Report.Decision, e.Decision, e.Condition, c.enforced, c.decision, c.condition)
		}
	}
}

const (
	wordsAgent  = `{"id": "words", "name": "Words", "kind": "rules", "description": "d"%s}`
	wordsPolicy = `{"id": %q, "description": "d", "priority": 10, "trigger": {"type": "path", "globs": [%q]}, "dispatch": {"agents": ["words"], "required": true, "scope": "matched"}%s}`
	evaluating  = `, "mode": "evaluate"`
)

func TestAgentInEvaluation(t *testing.T) {
	files := map[string]string{
		config.FileAgents:      "[" + fmt.Sprintf(wordsAgent, evaluating) + "]",
		config.FileRules:       "[" + wordRule("word", "words", "frobnicate", "") + "]",
		config.FileComposition: "[" + fmt.Sprintf(wordsPolicy, "all-words", "**", "") + "]",
	}
	v := evaluated(t, nil, files, "package a // frobnicate")
	if got := found(v.Report.Evaluation.Findings); !slices.Equal(got, []string{"word"}) {
		t.Errorf("findings in evaluation: %v", got)
	}
	if v.Manifest.Entry("words") != nil || slices.Contains(found(v.Report.Findings), "word") {
		t.Error("an agent in evaluation is enforced")
	}
	i := slices.IndexFunc(v.Manifest.Skipped, func(s pipeline.SkippedAgent) bool { return s.Agent == "words" })
	if i < 0 || v.Manifest.Skipped[i].Reason != "in evaluation only" {
		t.Errorf("skipped: %+v", v.Manifest.Skipped)
	}
	if e := v.Evaluation.Entries[0]; e.Required || e.OnFailure == pipeline.OnFailureBlock {
		t.Errorf("an agent in evaluation is required: %+v", e)
	}

	// A failure, even a panic, affects nothing that is enforced.
	for name, agent := range map[string]dispatch.Agent{
		"fails": agentFunc(func(context.Context, dispatch.Task) (pipeline.AgentOutput, error) {
			return pipeline.AgentOutput{}, errors.New("down")
		}),
		"panics": agentFunc(func(context.Context, dispatch.Task) (pipeline.AgentOutput, error) { panic("no") }),
	} {
		v := evaluated(t, map[string]dispatch.Agent{"words": agent}, files, "package a // frobnicate")
		if len(v.Report.Incomplete) > 0 || v.Report.Decision != pipeline.DecisionPass {
			t.Errorf("an agent in evaluation %s: %s, incomplete %+v", name, v.Report.Decision, v.Report.Incomplete)
		}
		if c := v.Report.Evaluation.Coverage; len(c) != 1 || c[0].Status != pipeline.AgentFailed {
			t.Errorf("an agent in evaluation %s: coverage %+v", name, c)
		}
	}
}

// A policy in evaluation brings an agent to files that no enforced policy gives it.
func TestPolicyInEvaluation(t *testing.T) {
	for name, c := range map[string]struct {
		enforced            string // its globs
		findings, evaluated []string
	}{
		"no other policy":           {"nowhere/**", nil, []string{"word"}},
		"an enforced policy too":    {"src/**", []string{"word"}, nil},
		"an enforced one elsewhere": {"docs/**", nil, []string{"word"}},
	} {
		v := evaluated(t, nil, map[string]string{
			config.FileAgents:      "[" + fmt.Sprintf(wordsAgent, "") + "]",
			config.FileRules:       "[" + wordRule("word", "words", "frobnicate", "") + "]",
			config.FileComposition: "[" + fmt.Sprintf(wordsPolicy, "tried", "**", evaluating) + "," + fmt.Sprintf(wordsPolicy, "enforced", c.enforced, "") + "]",
		}, "package a // frobnicate")
		var tried []string
		if v.Report.Evaluation != nil {
			tried = found(v.Report.Evaluation.Findings)
		}
		if got := found(v.Report.Findings); !slices.Equal(got, c.findings) || !slices.Equal(tried, c.evaluated) {
			t.Errorf("%s: findings %v and %v, want %v and %v", name, got, tried, c.findings, c.evaluated)
		}
	}
}

// A label that only something in evaluation reads causes a new review.
func TestEvaluationReadsLabels(t *testing.T) {
	for trigger, want := range map[string]pipeline.LabelsRead{
		`{"type": "label", "labels": ["urgent"]}`: pipeline.LabelsAll, `{"type": "always"}`: pipeline.LabelsNone,
	} {
		cfg, problems := config.Load(layerOf(config.LayerRepository, map[string]string{config.FileComposition: `[{"id": "tried", "mode": "evaluate",
			"description": "d", "priority": 10, "trigger": ` + trigger + `, "dispatch": {"agents": ["finance-sme"]}}]`}))
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		out, err := newRunner(t, nil).Run(t.Context(), &inMemory{cfg: cfg, files: change(t).files}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if out.LabelsRead != want {
			t.Errorf("%s: the labels read are %d, want %d", trigger, out.LabelsRead, want)
		}
	}
}

// A rule in evaluation that only a model can check is not on the enforced checklist: the model is
// asked again with the rule, and only its findings by the rule are kept. A rule that the engine
// checks costs no question.
func TestModelIsAskedAgainForARuleInEvaluation(t *testing.T) {
	prose := `{"id": "tried", "name": "Unclear name", "severity": "major", "agent": "build-reviewer", "category": "words", "mode": "evaluate",
		"description": "The name says nothing.", "detection": "Names that say nothing", "recommendation": "Name it well."}`
	for name, c := range map[string]struct {
		rule      string
		asked     []bool // whether the rule was on the checklist
		evaluated []string
	}{
		"prose":             {prose, []bool{false, true}, []string{"tried"}},
		"machine-checkable": {wordRule("tried", "build-reviewer", "frobnicate", evaluating), []bool{false}, nil},
		"of the model":      {wordRule("tried", "reader", "frobnicate", evaluating), []bool{false, true}, []string{"tried"}},
	} {
		server := layerOf(config.LayerServer, map[string]string{
			config.FileSettings:    `{"model_endpoints": [{"name": "m", "api": "openai", "model": "m"}]}`,
			config.FileAgents:      `[{"id": "reader", "name": "Reader", "kind": "llm", "description": "d", "llm": {"prompt": "build-reviewer", "checklist": ["build-reviewer"]}}]`,
			config.FileComposition: `[{"id": "reader", "description": "d", "priority": 10, "trigger": {"type": "always"}, "dispatch": {"agents": ["reader"]}}]`,
			config.FileRules:       "[" + c.rule + "]",
		})
		cfg, problems := config.Load(server)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		var asked []bool
		o := Options{IOAgents: func(io IOAgent) dispatch.Agent {
			if io.Agent.ID != "reader" {
				return nil
			}
			return agentFunc(func(context.Context, dispatch.Task) (pipeline.AgentOutput, error) {
				list := io.Config.Checklist(&io.Agent)
				has := slices.ContainsFunc(list, func(r config.Rule) bool { return r.ID == "tried" })
				asked = append(asked, has)
				if !slices.ContainsFunc(list, func(r config.Rule) bool { return r.ID == "build-conflict-01" }) {
					t.Errorf("%s: the checklist is not whole", name)
				}
				find := func(rule string) pipeline.Finding {
					return pipeline.Finding{Title: "Found by " + rule, Severity: "major", Message: "m", Confidence: 0.9, RuleID: rule, Path: "src/pricing/total.ts", StartLine: 1}
				}
				out := pipeline.AgentOutput{Findings: pipeline.List[pipeline.Finding]{find("build-conflict-01")}}
				if has {
					out.Findings = append(out.Findings, find("tried"))
				}
				return out, nil
			})
		}}
		r := newRunner(t, nil)
		out, err := r.Run(t.Context(), &inMemory{cfg: cfg, files: change(t).files}, o)
		if err != nil {
			t.Fatal(err)
		}
		replays(t, r, out.Review, cfg)
		var tried []string
		if e := out.Review.Report.Evaluation; e != nil {
			tried = found(e.Findings)
		}
		if !slices.Equal(asked, c.asked) || !slices.Equal(tried, c.evaluated) || slices.Contains(found(out.Review.Report.Findings), "tried") {
			t.Errorf("%s: asked with the rule: %v, found in evaluation: %v", name, asked, tried)
		}
	}
}

// A policy in evaluation that brings a model asks that model alone, and one that brings files asks
// about those alone.
func TestEvaluationAsksOnlyMore(t *testing.T) {
	for name, c := range map[string]struct {
		enforced, tried string // globs and models
		want            pipeline.ManifestEntry
	}{
		"a model": {`"globs": ["**"]}, "dispatch": {"agents": ["reader"], "models": ["m"]}`, `"globs": ["**"]}, "dispatch": {"agents": ["reader"], "models": ["m", "n"]}`,
			pipeline.ManifestEntry{Scope: pipeline.AgentScope{All: true}, Models: pipeline.List[string]{"n"}}},
		"files": {`"globs": ["src/cart/**"]}, "dispatch": {"agents": ["reader"], "models": ["m"], "scope": "matched"}`, `"globs": ["**"]}, "dispatch": {"agents": ["reader"], "models": ["m"], "scope": "matched"}`,
			pipeline.ManifestEntry{Scope: pipeline.AgentScope{Files: pipeline.List[string]{"src/pricing/total.ts"}}, Models: pipeline.List[string]{"m"}}},
	} {
		policy := func(id, mode, rest string) string {
			return fmt.Sprintf(`{"id": %q, "mode": %q, "description": "d", "priority": 10, "trigger": {"type": "path", %s}`, id, mode, rest)
		}
		cfg, problems := config.Load(layerOf(config.LayerServer, map[string]string{
			config.FileSettings:    `{"model_endpoints": [{"name": "m", "api": "openai", "model": "m"}, {"name": "n", "api": "openai", "model": "n"}]}`,
			config.FileAgents:      `[{"id": "reader", "name": "Reader", "kind": "llm", "description": "d", "llm": {"prompt": "build-reviewer", "checklist": ["build-reviewer"]}}]`,
			config.FileComposition: "[" + policy("one", "enforce", c.enforced) + "," + policy("two", "evaluate", c.tried) + "]",
		}))
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		out, err := newRunner(t, map[string]dispatch.Agent{"reader": says("info")}).Run(t.Context(), &inMemory{cfg: cfg, files: change(t).files}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		e := out.Review.Evaluation.Entries[0]
		if diff := cmp.Diff(c.want, pipeline.ManifestEntry{Scope: pipeline.AgentScope{All: e.Scope.All, Files: e.Scope.Files}, Models: e.Models}); diff != "" {
			t.Errorf("%s (-want +asked):\n%s", name, diff)
		}
	}
}

// The evaluation of a final rule says what its floor would decide, whatever the gate of a later layer.
func TestEvaluationOfAFinalRule(t *testing.T) {
	server := layerOf(config.LayerServer, map[string]string{config.FileRules: "[" + wordRule("tried", "build-reviewer", "frobnicate", `, "final": true`+evaluating) + "]"})
	mild := layerOf(config.LayerRepository, map[string]string{config.FileSettings: `{"gate": {"conditions": [{"when": "critical > 0", "decision": "fail"}]}}`})
	cfg, problems := config.Load(server, mild)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	r := newRunner(t, nil)
	out, err := r.Run(t.Context(), &inMemory{cfg: cfg, files: []raw.ChangedFile{{Path: "a.py", Status: pipeline.FileAdded, Additions: 1, Patch: "@@ -0,0 +1 @@\n+frobnicate"}}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	replays(t, r, out.Review, cfg)
	if e := out.Review.Report.Evaluation; out.Review.Report.Decision.Blocks() || e == nil || e.Decision != pipeline.DecisionNeedsFixes || !strings.Contains(e.Condition, "server's layer") {
		t.Errorf("%s, and in evaluation %+v", out.Review.Report.Decision, e)
	}
}

// What was found in evaluation at the last head is followed up as enforced findings are: it is gone
// if its line is, and nobody knows if its agent failed.
func TestEvaluationIsFollowedUp(t *testing.T) {
	fails := false
	agents := map[string]dispatch.Agent{"words": agentFunc(func(_ context.Context, task dispatch.Task) (pipeline.AgentOutput, error) {
		if fails {
			return pipeline.AgentOutput{}, errors.New("down")
		}
		var out pipeline.AgentOutput
		for i := range task.Facts.Files {
			if f := &task.Facts.Files[i]; strings.Contains(f.Hunks[0].Lines[0].Text, "frobnicate") {
				out.Findings = append(out.Findings, pipeline.Finding{Title: "A word", Severity: "major", Message: "m", Confidence: 1, RuleID: "word", Path: f.Path, StartLine: 1})
			}
		}
		return out, nil
	})}
	cfg, problems := config.Load(layerOf(config.LayerRepository, map[string]string{
		config.FileAgents:      "[" + fmt.Sprintf(wordsAgent, evaluating) + "]",
		config.FileRules:       "[" + wordRule("word", "words", "frobnicate", "") + "]",
		config.FileComposition: "[" + fmt.Sprintf(wordsPolicy, "py", "**/*.py", "") + "]",
	}))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	r := newRunner(t, agents)
	review := func(last *pipeline.Report, path, line string) *pipeline.Report {
		t.Helper()
		o := Options{}
		if last != nil {
			o.Previous = func(context.Context, *pipeline.PRFacts) (*pipeline.PreviousReport, error) {
				before := last.AsPrevious()
				before.HeadSHA = "another"
				return before, nil
			}
		}
		out, err := r.Run(t.Context(), &inMemory{cfg: cfg, files: []raw.ChangedFile{{Path: path, Status: pipeline.FileAdded, Additions: 1, Patch: "@@ -0,0 +1 @@\n+" + line}}}, o)
		if err != nil {
			t.Fatal(err)
		}
		replays(t, r, out.Review, cfg)
		return &out.Review.Report
	}
	counts := func(report *pipeline.Report) [3]int {
		e := report.Evaluation
		if e == nil {
			return [3]int{}
		}
		return [3]int{len(e.Findings), len(e.Resolved), len(e.Unconfirmed)}
	}
	first := review(nil, "a.py", "frobnicate")
	for name, c := range map[string]struct {
		path, line string
		fails      bool
		want       [3]int
	}{
		"still there":                    {"a.py", "frobnicate", false, [3]int{1, 0, 0}},
		"fixed":                          {"a.py", "fine", false, [3]int{0, 1, 0}},
		"its agent failed":               {"a.py", "fine", true, [3]int{0, 0, 1}},
		"its file is gone, so no policy": {"b.go", "fine", false, [3]int{0, 1, 0}},
	} {
		fails = c.fails
		if got := counts(review(first, c.path, c.line)); got != c.want {
			t.Errorf("%s: %v, want %v found, resolved and unconfirmed", name, got, c.want)
		}
	}
	fails = true
	unsure := review(first, "a.py", "fine")
	fails = false
	if got := counts(review(unsure, "a.py", "fine")); got != [3]int{0, 1, 0} {
		t.Errorf("after a failure: %v", got)
	}
}

// What goes wrong in an evaluation is a note.
func TestBrokenEvaluationIsANote(t *testing.T) {
	cfg, problems := config.Load(layerOf(config.LayerRepository, map[string]string{config.FileRules: "[" + wordRule("tried", "build-reviewer", "frobnicate", evaluating) + "]"}))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	broken := *cfg
	tried := *cfg.Evaluation
	tried.Rules = append(slices.Clone(tried.Rules), config.Rule{ID: "broken", Enabled: true, Agent: "build-reviewer", Match: &config.Match{Pattern: "("}})
	broken.Evaluation = &tried
	rekey(&broken, "broken")
	rekey(&tried, "broken evaluation")
	r := newRunner(t, nil)
	out, err := r.Run(t.Context(), &inMemory{cfg: &broken, files: change(t).files}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if e := out.Review.Report.Evaluation; e == nil || e.Note == "" || out.Review.Evaluation.Note == "" || out.Review.Report.Decision.Blocks() {
		t.Errorf("the evaluation is %+v, the decision %s", e, out.Review.Report.Decision)
	}
	replays(t, r, out.Review, &broken)
}

// Results of agents in evaluation are carried over like others, so that a model is not asked again.
func TestEvaluationIsCarriedOver(t *testing.T) {
	asked := 0
	agents := map[string]dispatch.Agent{"words": agentFunc(func(context.Context, dispatch.Task) (pipeline.AgentOutput, error) {
		asked++
		return pipeline.AgentOutput{}, nil
	})}
	cfg, problems := config.Load(layerOf(config.LayerRepository, map[string]string{
		config.FileAgents:      "[" + fmt.Sprintf(wordsAgent, evaluating) + "]",
		config.FileComposition: "[" + fmt.Sprintf(wordsPolicy, "all-words", "**", "") + "]",
	}))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	r := newRunner(t, agents)
	src := &inMemory{cfg: cfg, files: change(t).files}
	first, err := r.Run(t.Context(), src, Options{})
	if err != nil {
		t.Fatal(err)
	}
	last := func(context.Context) (*LastReview, error) {
		return &LastReview{Review: &first.Review, Version: first.Record.Version}, nil
	}
	second, err := r.Run(t.Context(), src, Options{Carry: Carry{Last: last, SameHead: true}})
	if err != nil {
		t.Fatal(err)
	}
	if rows := second.Review.Evaluation.Results; asked != 1 || len(rows) != 1 || rows[0].CarriedFrom == "" {
		t.Errorf("the agent was asked %d times, and its results are %+v", asked, rows)
	}
}

// Config that is in evaluation can't loosen anything: for any config, whatever is enforced comes out
// as if the entries in evaluation were switched off, and a final finding stays in the gate.
func TestEvaluationChangesNothingThatIsEnforced(t *testing.T) {
	settings := schemaOf(t, config.FileSettings)
	settings["common"] = schemaOf(t, "common.json")
	runner := newRunner(t, nil)
	some, valid, tries := 0, 0, 0
	property := func(t *rapid.T) {
		rapid.SliceOfN(rapid.Uint64(), tries, tries).Draw(t, "unused") // so that each try draws other cases, although the seed may be fixed
		server := config.Layer{Name: rapid.SampledFrom([]string{config.LayerServer, config.LayerOrganisation}).Draw(t, "layer"), Source: "test"}
		holder := holders[rapid.SampledFrom(slices.Sorted(maps.Keys(holders))).Draw(t, "holder")]
		for _, file := range slices.Sorted(maps.Keys(holder)) {
			server.Files = append(server.Files, config.File{Path: file, Text: []byte(holder[file])})
		}
		repository := drawRepository(t, settings)
		cfg, problems := config.Load(server, repository)
		if len(problems) == 0 {
			valid++
		}
		off, problemsOff := config.Load(server, withoutEvaluation(t, repository))
		if (len(problems) == 0) != (len(problemsOff) == 0) {
			if len(problems) == 0 {
				t.Fatalf("a config is valid that is not with its entries in evaluation switched off: %v", problemsOff)
			}
			return // an agent in evaluation needs a policy, and one that is switched off does not
		}
		change := drawHeldChange(t, cfg)
		got := reviewed(t, runner, change)
		change.cfg = off
		want := reviewed(t, runner, change)
		if got.Report.Evaluation != nil && len(got.Report.Evaluation.Findings) > 0 {
			some++
		}
		if !got.Report.Decision.Blocks() {
			t.Fatalf("the final finding lets the change pass: %s", got.Report.Gate.Condition)
		}
		got.Report.Evaluation, got.Report.ConfigVersion, want.Report.ConfigVersion = nil, "", ""
		if diff := cmp.Diff(want.Report, got.Report); diff != "" {
			t.Fatalf("with the entries in evaluation switched off, the report differs (-off +evaluation):\n%s", diff)
		}
		if diff := cmp.Diff(want.Manifest.Entries, got.Manifest.Entries); diff != "" {
			t.Fatalf("other agents were chosen (-off +evaluation):\n%s", diff)
		}
	}
	for ; tries == 0 || tries < 10 && sample.Full() && some == 0; tries++ { // few draws have such a finding
		sample.Check(t, property)
	}
	t.Logf("%d valid configs of repositories, %d evaluations with findings", valid, some)
	if (some == 0 || valid == 0) && sample.Full() && !testing.Short() { // a short run may draw too few
		t.Error("the property was not tried")
	}
}

func reviewed(t *rapid.T, r *Runner, change *inMemory) pipeline.Review {
	out, err := r.Run(t.Context(), change, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return out.Review
}

// withoutEvaluation returns a layer whose entries in evaluation are switched off.
func withoutEvaluation(t *rapid.T, l config.Layer) config.Layer {
	out := config.Layer{Name: l.Name, Source: l.Source}
	for _, f := range l.Files {
		var list []map[string]any
		if json.Unmarshal(f.Text, &list) == nil {
			for _, e := range list {
				if e["mode"] == config.ModeEvaluate {
					e["enabled"] = false
				}
				delete(e, "mode")
			}
			text, err := json.Marshal(list)
			if err != nil {
				t.Fatal(err)
			}
			f.Text = text
		}
		out.Files = append(out.Files, f)
	}
	return out
}
