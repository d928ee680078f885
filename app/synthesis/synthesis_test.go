package synthesis

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

func load(t *testing.T, settings string) *config.Config {
	t.Helper()
	cfg, problems := config.Load(config.Layer{Name: config.LayerRepository, Files: []config.File{{Path: config.FileSettings, Text: []byte(settings)}}})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return cfg
}

func loadPolicies(t *testing.T, text string) *config.Config {
	t.Helper()
	cfg, problems := config.Load(config.Layer{Name: config.LayerRepository, Files: []config.File{{Path: config.FileComposition, Text: []byte(text)}}})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	for i := range cfg.Policies {
		cfg.Policies[i].Enabled = cfg.Policies[i].ID == "p"
	}
	return cfg
}

func run(t *testing.T, in Input) Outcome {
	t.Helper()
	if in.Config == nil {
		in.Config = load(t, "{}")
	}
	out, problems, err := Run(in)
	if err != nil || len(problems) > 0 {
		t.Fatalf("%v, %v", problems, err)
	}
	b, err := json.Marshal(out.Review.Report)
	if err != nil {
		t.Fatal(err)
	}
	if err := config.ValidateData(config.SchemaReviewReport, b); err != nil {
		t.Fatalf("the report does not match its schema: %v", err)
	}
	return out
}

func source(name string, outputs ...pipeline.AgentOutput) Source {
	b, err := json.Marshal(outputs)
	if err != nil {
		panic(err)
	}
	return Source{Name: name, Text: b}
}

func finding(title string, s pipeline.Severity, path string, line int) pipeline.Finding {
	return pipeline.Finding{Title: title, Severity: s, Message: "m", Confidence: 0.9, Path: path, StartLine: line}
}

func output(agent, model, stage string, findings ...pipeline.Finding) pipeline.AgentOutput {
	return pipeline.AgentOutput{Agent: agent, Model: model, Stage: stage, Findings: findings}
}

func TestWithoutFactsPathsAreNotChecked(t *testing.T) {
	out := run(t, Input{Outputs: []Source{source("a.json", output("a", "", "", finding("t", pipeline.SeverityMajor, "nowhere.go", 1_000_000)))}})
	r := out.Review.Report
	if len(r.Findings) != 1 || out.Dropped.Count != 0 || r.Decision != pipeline.DecisionNeedsFixes {
		t.Errorf("%d findings, %d dropped, decision %s", len(r.Findings), out.Dropped.Count, r.Decision)
	}
	if r.Repository != "" || r.HeadSHA != "" || r.ConfigVersion != out.Config.InForce.Version {
		t.Errorf("repository %q, head %q, config %q", r.Repository, r.HeadSHA, r.ConfigVersion)
	}
}

func facts(files ...pipeline.File) *Source {
	b, err := json.Marshal(pipeline.PRFacts{
		SchemaVersion: 1, Repository: pipeline.Repository{Owner: "acme", Name: "shop"}, Number: 7, Head: pipeline.Head{SHA: "abc"},
		Files: files, Config: pipeline.ConfigInForce{Version: "another"}, ObservedAt: time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC),
	})
	if err != nil {
		panic(err)
	}
	return &Source{Name: "facts.json", Text: b}
}

func TestWithFactsPlacesAreChecked(t *testing.T) {
	added := pipeline.File{Path: "a.go", Status: pipeline.FileAdded, Additions: 2, Hunks: pipeline.List[pipeline.Hunk]{{
		NewStart: 1, NewLines: 2, Lines: pipeline.List[pipeline.Line]{{Op: pipeline.LineAdded, New: 1, Text: "x"}, {Op: pipeline.LineAdded, New: 2, Text: "y"}},
	}}}
	out := run(t, Input{Facts: facts(added), Outputs: []Source{source("a.json", output("a", "", "",
		finding("in the file", pipeline.SeverityMajor, "a.go", 2), finding("below the file", pipeline.SeverityMajor, "a.go", 3),
		finding("of no line", pipeline.SeverityInfo, "a.go", 0), finding("in another", pipeline.SeverityCritical, "b.go", 1)))}})
	r := out.Review.Report
	var got []string
	for _, f := range r.Findings {
		got = append(got, f.Title)
	}
	for _, e := range out.Dropped.Why {
		got = append(got, fmt.Sprintf("%s: %s", e.Pointer, e.Problem))
	}
	want := []string{"in the file", "of no line", "/0/findings/1: the file has no line 3", "/0/findings/3: its path is not in the change"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("kept and dropped (-want +got):\n%s", diff)
	}
	if r.Coverage[0].Dropped != 2 || out.Dropped.Count != 2 || r.Repository != "acme/shop" || r.HeadSHA != "abc" || r.ConfigVersion == "another" {
		t.Errorf("report of %s %s, config %s, coverage %+v", r.Repository, r.HeadSHA, r.ConfigVersion, r.Coverage)
	}
}

// Incomplete facts hold the gate here too.
func TestIncompleteFactsDoNotPass(t *testing.T) {
	f := facts()
	f.Text = []byte(strings.Replace(string(f.Text), `"incomplete":[]`, `"incomplete":[{"what":"patch","path":"a.go","why":"it is gone","gating":true}]`, 1))
	if got := run(t, Input{Facts: f}).Review.Report.Decision; got != pipeline.DecisionNeedsFixes {
		t.Errorf("decision %s", got)
	}
}

// A risk metric in the facts is used for the change.
func TestRiskIsThatOfTheFacts(t *testing.T) {
	cfg := load(t, `{"gate": {"conditions": [{"when": "risk_score > 0", "decision": "fail"}]}}`)
	big := pipeline.File{Path: ".github/workflows/ci.yml", Status: pipeline.FileModified, Additions: 2000}
	if got := run(t, Input{Config: cfg, Facts: facts(big)}).Review.Report.Decision; got != pipeline.DecisionFail {
		t.Errorf("decision %s", got)
	}
	if got := run(t, Input{Config: cfg}).Review.Report.Decision; got != pipeline.DecisionPass {
		t.Errorf("without facts: decision %s", got)
	}
}

func TestModels(t *testing.T) {
	outputs := []Source{source("a.json",
		output("reviewer", "zephyr", pipeline.ReviewStageQuality, finding("only the weaker", pipeline.SeverityWarning, "a.go", 1)),
		output("reviewer", "atlas", pipeline.ReviewStageQuality, finding("only the stronger", pipeline.SeverityCritical, "b.go", 9)),
	)}
	out := run(t, Input{Outputs: outputs, Models: []string{"zephyr", "atlas"}})
	m := out.Review.Report.Models
	if m == nil || m.Verdicts[0].Model != "zephyr" || m.Merge.AOnly != 1 || m.Merge.BOnly != 1 || m.Confidence != 0.7 || m.AutoDecision != pipeline.AutoHuman {
		t.Errorf("models: %+v", m)
	}
	// Sorted by name, atlas would be the weaker one.
	if m := run(t, Input{Outputs: outputs}).Review.Report.Models; m.Verdicts[0].Model != "atlas" || m.Confidence != 0.4 {
		t.Errorf("models by name: %+v", m)
	}
	cfg := load(t, `{"models": {"reviewers": ["zephyr", "atlas"]}}`)
	if diff := cmp.Diff(m, run(t, Input{Outputs: outputs, Config: cfg}).Review.Report.Models); diff != "" {
		t.Errorf("models of the config (-named +config):\n%s", diff)
	}
	if cfg.Settings.Models.Reviewers[0] != "zephyr" || len(load(t, "{}").Settings.Models.Reviewers) != 0 {
		t.Error("the config itself was changed")
	}
}

func TestUnknownFieldsAreCounted(t *testing.T) {
	text := `[{"agent": "a", "mood": 1, "findings": [{"x": 1, "title": "t", "severity": "info", "message": "m", "confidence": 1, "path": "p"}]},
		{"agent": "a", "model": "m", "stage": "spec", "findings": [], "y": 2}]`
	out := run(t, Input{Outputs: []Source{{"a.json", []byte(text)}, {"b.json", []byte(text)}}})
	var got []string
	for _, c := range out.Review.Report.Coverage {
		got = append(got, c.Agent+" "+c.Model+": "+c.Note)
	}
	want := []string{"a : fields left out that are not known: 4", "a m: fields left out that are not known: 2"}
	if diff := cmp.Diff(want, got); diff != "" || len(out.Unknown) != 2 || out.Unknown[0].Count != 3 {
		t.Errorf("unknown %v, notes (-want +got):\n%s", out.Unknown, diff)
	}
}

func TestProblems(t *testing.T) {
	good := source("good.json", output("a", "", "", finding("t", pipeline.SeverityMajor, "a.go", 1)))
	many := Source{"many.json", []byte(`{"agent": "a", "findings": [` + strings.Repeat("0,", 120_000) + `0]}`)}
	tests := []struct {
		name string
		in   Input
		want []string
	}{
		{"facts", Input{Outputs: []Source{good}, Facts: &Source{"facts.json", []byte(`[]`)}}, []string{
			`facts.json:1:1: the PRFacts is a list, but must be an object; `,
		}},
		{"too many findings together", Input{Outputs: []Source{many, many}}, []string{`many.json: the files up to here have more than 200000 findings; put fewer together`}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.in.Config = load(t, "{}")
			out, problems, err := Run(test.in)
			if err != nil || out.Config != nil {
				t.Fatalf("a report was made, %v", err)
			}
			for i, p := range problems {
				if i >= len(test.want) || !strings.HasPrefix(config.FormatProblem(p), test.want[i]) {
					t.Errorf("problem %d: %s", i, config.FormatProblem(p))
				}
			}
			if len(problems) != len(test.want) {
				t.Errorf("%d problems, want %d", len(problems), len(test.want))
			}
		})
	}
}

// An unreadable output does not end the review of the others. It is named, and the review is
// incomplete unless the config allows the agent to be missing.
func TestMalformedOutputs(t *testing.T) {
	good := source("good.json", output("a", "", "", finding("t", pipeline.SeverityWarning, "a.go", 1)))
	optional := `[{"id": "p", "description": "d", "priority": 1, "trigger": {"type": "always"}, "dispatch": {"agents": ["build-reviewer"], "required": %t}}]`
	tests := []struct {
		name, text, policies string
		agent                string // its name in the coverage
		blocks               bool
		want                 []string
	}{
		{"not JSON", "[", "", "b.json", true, []string{`b.json:1:2: the file ends in the middle of a value; close every string, bracket and brace`}},
		{"nothing", "", "", "b.json", true, []string{`b.json:1:1: the file is empty; remove it, or write an empty list or object into it`}},
		{"no agent", "{}", "", "b.json", true, []string{`b.json:1:1: "agent" is missing; add "agent"`, `b.json:1:1: "findings" is missing; add "findings"`}},
		{"no findings", `{"agent": "x"}`, "", "x", true, []string{`b.json:1:1: "findings" is missing; add "findings"`}},
		{"beside a good one", `[{"agent": "x", "findings": []}, 7]`, "", "b.json", true, []string{`b.json:1:34: /1: an agent's output is a number, but must be an object; write it in { }`}},
		{"of a required agent", `{"agent": "build-reviewer"}`, fmt.Sprintf(optional, true), "build-reviewer", true, []string{`b.json:1:1: "findings" is missing; add "findings"`}},
		{"of an agent that is not required", `{"agent": "build-reviewer"}`, fmt.Sprintf(optional, false), "build-reviewer", false, []string{`b.json:1:1: "findings" is missing; add "findings"`}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			in := Input{Config: load(t, "{}"), Outputs: []Source{{"b.json", []byte(test.text)}, good}}
			if test.policies != "" {
				in.Config = loadPolicies(t, test.policies)
			}
			out := run(t, in)
			var got []string
			for _, p := range out.Malformed {
				got = append(got, config.FormatProblem(p))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
			r := out.Review.Report
			if len(r.Findings) != 1 || r.Decision.Blocks() != test.blocks {
				t.Errorf("%d findings, decision %s", len(r.Findings), r.Decision)
			}
			if !slices.ContainsFunc(r.Coverage, func(c pipeline.Coverage) bool { return c.Agent == test.agent && c.Status == pipeline.AgentMalformed }) {
				t.Errorf("coverage does not name %s: %+v", test.agent, r.Coverage)
			}
		})
	}
}

// Dropping a finding that may block makes the review incomplete. Dropping one that could only
// warn is counted.
func TestDroppedFindings(t *testing.T) {
	const rest = `"message": "m", "path": "a.go"`
	tests := []struct {
		name, findings string
		decision       pipeline.Decision
		note           string
	}{
		{"critical", `{"title": "Keys leak", "severity": "P0", "confidence": "0.9", ` + rest + `}`, pipeline.DecisionNeedsFixes, `critical finding "Keys leak" dropped: confidence is a string, but must be a number`},
		{"major and critical", `{"title": "t", "severity": "major", ` + rest + `}, {"title": "u", "severity": "critical", ` + rest + `}`, pipeline.DecisionNeedsFixes, `critical finding "u" dropped: "confidence" is missing, and 1 more`},
		{"an unknown severity", `{"title": "t", "severity": "blocker", "confidence": 0.9, ` + rest + `}`, pipeline.DecisionNeedsFixes, `unreadable finding "t" dropped: this is not a severity`},
		{"no object", `7`, pipeline.DecisionNeedsFixes, `unreadable finding dropped: a finding is a number, but must be an object`},
		{"a warning and info", `{"title": "t", "severity": "minor", ` + rest + `}, {"title": "u", "severity": "info", ` + rest + `}`, pipeline.DecisionPass, ""},
		{"none", `{"title": "t", "severity": "none", "confidence": 0.9, ` + rest + `}`, pipeline.DecisionPass, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := run(t, Input{Outputs: []Source{{"a.json", []byte(`{"agent": "a", "findings": [` + test.findings + `]}`)}}}).Review.Report
			if r.Decision != test.decision || len(r.Incomplete) > 0 != (test.note != "") {
				t.Errorf("decision %s, incomplete %v", r.Decision, r.Incomplete)
			}
			if c := r.Coverage[0]; len(r.Coverage) != 1 || c.Note != test.note || c.Dropped == 0 {
				t.Errorf("coverage %+v, want the note %s", r.Coverage, test.note)
			}
		})
	}
}

// Neither the order of files, envelopes and findings nor their distribution over files
// changes the report.
func TestOrderDoesNotMatter(t *testing.T) {
	cfg := load(t, "{}")
	sample.Check(t, func(t *rapid.T) {
		var outputs []pipeline.AgentOutput
		for range rapid.IntRange(1, 30).Draw(t, "envelopes") {
			o := output(rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "agent"), rapid.SampledFrom([]string{"", "", "m1", "m2"}).Draw(t, "model"), "", someFinding(t))
			if o.Model != "" {
				o.Stage = rapid.SampledFrom([]string{"", pipeline.ReviewStageSpec, pipeline.ReviewStageQuality}).Draw(t, "stage")
			}
			if rapid.Bool().Draw(t, "concern") {
				o.ResidualConcerns = pipeline.List[string]{rapid.SampledFrom([]string{"x", "y"}).Draw(t, "text")}
			}
			outputs = append(outputs, o)
		}
		report := func() string {
			var files []Source
			for rest := outputs; len(rest) > 0; {
				n := rapid.IntRange(1, len(rest)).Draw(t, "in one file")
				files = append(files, source("x.json", rest[:n]...))
				rest = rest[n:]
			}
			out, problems, err := Run(Input{Outputs: files, Config: cfg})
			if err != nil || len(problems) > 0 {
				t.Fatal(problems, err)
			}
			b, err := json.MarshalIndent(out.Review.Report, "", " ")
			if err != nil {
				t.Fatal(err)
			}
			return string(b)
		}
		want := report()
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		for range 5 {
			r.Shuffle(len(outputs), func(i, j int) { outputs[i], outputs[j] = outputs[j], outputs[i] })
			if diff := cmp.Diff(want, report()); diff != "" {
				t.Fatalf("another order gives another report:\n%s", diff)
			}
		}
		// One envelope for each maker, with findings in any order.
		together := map[[3]string]*pipeline.AgentOutput{}
		for _, o := range outputs {
			key := [3]string{o.Agent, o.Model, o.Stage}
			if together[key] == nil {
				together[key] = &pipeline.AgentOutput{Agent: o.Agent, Model: o.Model, Stage: o.Stage}
			}
			to := together[key]
			to.Findings, to.ResidualConcerns = append(to.Findings, o.Findings...), append(to.ResidualConcerns, o.ResidualConcerns...)
		}
		outputs = outputs[:0]
		for _, o := range together {
			slices.Reverse(o.Findings)
			outputs = append(outputs, *o)
		}
		if diff := cmp.Diff(want, report()); diff != "" {
			t.Fatalf("other envelopes give another report:\n%s", diff)
		}
	})
}

func someFinding(t *rapid.T) pipeline.Finding {
	f := finding(
		rapid.SampledFrom([]string{"Cache is essential", "cache is essential!", "Cut the cache", "No test"}).Draw(t, "title"),
		rapid.SampledFrom(pipeline.Severities()).Draw(t, "severity"), rapid.SampledFrom([]string{"a.go", "b.go"}).Draw(t, "path"), rapid.IntRange(0, 4).Draw(t, "line"),
	)
	f.Confidence = rapid.SampledFrom([]float64{0.2, 0.49, 0.5, 0.9, 7}).Draw(t, "confidence")
	f.Action = rapid.SampledFrom([]pipeline.Action{"", pipeline.ActionAdd, pipeline.ActionRemove, pipeline.ActionKeep}).Draw(t, "action")
	f.Blocking = rapid.Bool().Draw(t, "blocking")
	f.SuggestedFix = rapid.SampledFrom([]string{"", "x"}).Draw(t, "fix")
	f.AutofixClass = rapid.SampledFrom([]pipeline.AutofixClass{"", pipeline.AutofixAuto}).Draw(t, "class")
	return f
}
