package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/aggregate"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/pipeline/normalize"
	"github.com/reviewgate/reviewgate/pipeline/raw"
	"github.com/reviewgate/reviewgate/pipeline/secrets"
)

// configChange is change, and also changes the repository's settings and adds a line that a shipped
// rule finds.
func configChange(t *testing.T) *inMemory {
	src := change(t)
	src.files = append(src.files,
		raw.ChangedFile{Path: ".github/reviewgate/review-settings.json", Status: pipeline.FileAdded, Additions: 1, Patch: "@@ -0,0 +1 @@\n+{}"},
		raw.ChangedFile{Path: "store/tls.go", Status: pipeline.FileAdded, Additions: 1, Patch: "@@ -0,0 +1 @@\n+\tc := &tls.Config{InsecureSkipVerify: true}"},
	)
	return src
}

// proposes loads files as a repository's layer.
func proposes(files map[string]string) func(context.Context, *pipeline.PRFacts) (*config.Config, error) {
	layer := config.Layer{Name: config.LayerRepository, Source: "acme/shop@head"}
	for name, text := range files {
		layer.Files = append(layer.Files, config.File{Path: config.RepositoryDir + "/" + name, Text: []byte(text)})
	}
	return func(context.Context, *pipeline.PRFacts) (*config.Config, error) {
		cfg, _ := config.Load(layer)
		return cfg, nil
	}
}

// reportWith reviews a change and returns the report, and the report without a proposed config.
func reportWith(t *testing.T, r *Runner, src *inMemory, o Options) (with, without pipeline.Report) {
	t.Helper()
	plain, err := r.Run(t.Context(), src, Options{})
	if err != nil {
		t.Fatal(err)
	}
	tried, err := r.Run(t.Context(), src, o)
	if err != nil {
		t.Fatal(err)
	}
	return tried.Review.Report, plain.Review.Report
}

// A proposed config does not change the review of its change.
func TestProposedConfigNeverDecides(t *testing.T) {
	deaf := func(context.Context, *pipeline.PRFacts) (*config.Config, error) { return nil, errors.New("502") }
	for name, proposed := range map[string]func(context.Context, *pipeline.PRFacts) (*config.Config, error){
		"off":               proposes(map[string]string{config.FileSettings: `{"mode": "off"}`}),
		"no conditions":     proposes(map[string]string{config.FileSettings: `{"gate": {"conditions": []}}`}),
		"agent disabled":    proposes(map[string]string{config.FileAgents: `[{"id": "security-reviewer", "enabled": false}]`}),
		"broken":            proposes(map[string]string{config.FileSettings: `{"mode": "of"}`}),
		"everything blocks": proposes(map[string]string{config.FileSettings: `{"gate": {"conditions": [{"when": "findings >= 0", "decision": "fail"}]}}`}),
		"unreadable":        deaf,
		"none":              func(context.Context, *pipeline.PRFacts) (*config.Config, error) { return nil, nil },
		"panic":             func(context.Context, *pipeline.PRFacts) (*config.Config, error) { panic("index out of range") },
	} {
		t.Run(name, func(t *testing.T) {
			with, without := reportWith(t, newRunner(t, nil), configChange(t), Options{Proposed: proposed})
			if len(with.ProposedConfig.Files) == 0 {
				t.Fatal("the report does not say that config is changed")
			}
			with.ProposedConfig = pipeline.ProposedConfig{}
			if diff := cmp.Diff(without, with); diff != "" {
				t.Error(diff)
			}
			if without.Decision != pipeline.DecisionNeedsFixes {
				t.Errorf("decision %s, want needs_fixes by the switched-off verification", without.Decision)
			}
		})
	}
}

func TestProposedConfigIsTried(t *testing.T) {
	with, without := reportWith(t, newRunner(t, nil), configChange(t), Options{Proposed: proposes(map[string]string{
		config.FileAgents: `[{"id": "security-reviewer", "enabled": false}]`,
		config.FileRules: `[{"id": "shop-no-const", "name": "A constant", "severity": "warning", "agent": "build-reviewer", "category": "architecture",
			"description": "Constants are written in the catalogue.", "detection": "const", "recommendation": "Move it.", "match": {"literal": "const "}}]`,
	})})
	got := with.ProposedConfig
	want := pipeline.ProposedConfig{
		Files: pipeline.List[string]{".github/reviewgate/review-settings.json"}, Decision: pipeline.DecisionPassWithWarnings,
		Condition: "warning > 0", Counts: with.Counts, AgentsGone: pipeline.List[string]{"security-reviewer"},
		FindingsNew: 2, FindingsGone: 1, Changes: got.Changes, Findings: got.Findings,
	}
	var findings []string
	for _, f := range got.Findings {
		findings = append(findings, fmt.Sprintf("%t %s %s", f.Gone, f.Severity, f.RuleID))
		if f.Title == "" || f.Path == "" || f.Line == 0 {
			t.Errorf("a finding lacks its title or place: %+v", f)
		}
	}
	if want := []string{"false warning shop-no-const", "false warning shop-no-const", "true major sec-tls-verify-01"}; !slices.Equal(findings, want) {
		t.Errorf("findings %q, want %q", findings, want)
	}
	want.Counts.Major--
	want.Counts.Warning += 2
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s\nwithout: %+v", diff, without.Counts)
	}
}

// A mode that would let everything pass is shown, and the decision stays the same.
func TestProposedModeIsShown(t *testing.T) {
	for settings, want := range map[string]string{`{"mode": "off"}`: "off", `{"mode": "advisory"}`: "advisory", `{"mode": "enforce"}`: "", `{"comment": "never"}`: ""} {
		with, _ := reportWith(t, newRunner(t, nil), configChange(t), Options{Proposed: proposes(map[string]string{config.FileSettings: settings})})
		if got := with.ProposedConfig.Mode; got != want {
			t.Errorf("%s: the mode %q, want %q", settings, got, want)
		}
	}
}

// Findings that the proposed config would allow are shown as gone.
func TestProposedAllowanceIsTried(t *testing.T) {
	hash, err := secrets.HashValue(oneToken, "")
	if err != nil {
		t.Fatal(err)
	}
	for value, gone := range map[string]int{hash: 1, strings.Replace(hash, hash[len(hash)-2:], "00", 1): 0} {
		src := configChange(t)
		src.files = append(src.files, raw.ChangedFile{Path: "store/key.txt", Status: pipeline.FileAdded, Additions: 1, Patch: "@@ -0,0 +1 @@\n+" + oneToken})
		with, _ := reportWith(t, newRunner(t, nil), src, Options{Proposed: proposes(map[string]string{
			config.FileSettings: fmt.Sprintf(`{"secrets": {"allow": [{"rule": "secret-github-pat", "value": %q, "reason": "made up"}]}}`, value),
		})})
		if got := with.ProposedConfig; got.FindingsGone != gone || got.Note != "" || len(got.Problems) > 0 {
			t.Errorf("%d findings gone, want %d: %+v", got.FindingsGone, gone, got)
		}
	}
}

// Stored reports stay small however many changes somebody proposes.
func TestProposedConfigWithManyChanges(t *testing.T) {
	for _, n := range []int{pipeline.MaxConfigChanges, pipeline.MaxConfigChanges + 1} {
		var rules []string
		for i := range n {
			rules = append(rules, fmt.Sprintf(`{"id": "shop-%04d", "name": "n", "severity": "info", "agent": "build-reviewer", "category": "c",
				"description": "d", "detection": "d", "recommendation": "r", "match": {"literal": "no such text"}}`, i))
		}
		with, _ := reportWith(t, newRunner(t, nil), configChange(t), Options{Proposed: proposes(map[string]string{
			config.FileRules: "[" + strings.Join(rules, ",") + "]",
		})})
		p := with.ProposedConfig
		if len(p.Changes) != pipeline.MaxConfigChanges || len(p.Changes)+p.ChangesMore != n || p.Changes[0].ID != "shop-0000" {
			t.Errorf("of %d changes, %d are listed and %d more are counted", n, len(p.Changes), p.ChangesMore)
		}
	}
}

func TestProposedConfigThatIsBrokenIsListed(t *testing.T) {
	token := "ghp_" + "x7Kq2mVb9ZtR4sWc8YhJ1nDf6LgP3aEuT5oQ"
	with, _ := reportWith(t, newRunner(t, nil), configChange(t), Options{Proposed: proposes(map[string]string{
		config.FileSettings: "{\n  \"mode\": \"" + token + "\",\n  \"chek\": {}\n}",
	})})
	p := with.ProposedConfig
	if len(p.Problems) != 2 || p.Decision != "" || p.Note != "" {
		t.Fatalf("%+v, want two problems and no decision", p)
	}
	if p.Problems[0].Line != 2 || p.Problems[1].Line != 3 {
		t.Errorf("problems %+v, want lines 2 and 3", p.Problems)
	}
	if strings.Contains(p.Problems[0].Problem, token) {
		t.Error("a secret of the proposed config is quoted")
	}
}

func TestProposedConfigIsOnlyAskedWhereItIsTouched(t *testing.T) {
	for name, c := range map[string]struct {
		file raw.ChangedFile
		want pipeline.List[string]
	}{
		"another file in the directory":  {raw.ChangedFile{Path: ".github/reviewgate/README.md"}, nil},
		"a file of that name":            {raw.ChangedFile{Path: "docs/review-rules.json"}, nil},
		"misspelt":                       {raw.ChangedFile{Path: ".github/reviewgate/review-rule.json"}, pipeline.List[string]{".github/reviewgate/review-rule.json"}},
		"in another format":              {raw.ChangedFile{Path: ".github/reviewgate/review-rules.yaml"}, pipeline.List[string]{".github/reviewgate/review-rules.yaml"}},
		"no directory":                   {raw.ChangedFile{Path: ".github/reviewgate"}, pipeline.List[string]{".github/reviewgate"}},
		"moved in":                       {raw.ChangedFile{Path: ".github/reviewgate/review-rules.json", PreviousPath: "old/review-rules.json", Status: pipeline.FileRenamed}, pipeline.List[string]{".github/reviewgate/review-rules.json"}},
		"moved out":                      {raw.ChangedFile{Path: "old/review-rules.json", PreviousPath: ".github/reviewgate/review-rules.json", Status: pipeline.FileRenamed}, pipeline.List[string]{".github/reviewgate/review-rules.json"}},
		"removed":                        {raw.ChangedFile{Path: ".github/reviewgate/review-agents.json", Status: pipeline.FileRemoved}, pipeline.List[string]{".github/reviewgate/review-agents.json"}},
		"below the directory":            {raw.ChangedFile{Path: ".github/reviewgate/old/review-rules.json"}, nil},
		"another repository's directory": {raw.ChangedFile{Path: "vendor/.github/reviewgate/review-rules.json"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			src := change(t)
			src.files = append(src.files, c.file)
			asked := false
			with, _ := reportWith(t, newRunner(t, nil), src, Options{Proposed: func(context.Context, *pipeline.PRFacts) (*config.Config, error) {
				asked = true
				return shipped(t), nil
			}})
			if diff := cmp.Diff(c.want, with.ProposedConfig.Files); diff != "" || asked != (c.want != nil) {
				t.Errorf("asked: %t\n%s", asked, diff)
			}
		})
	}
}

// The gate of a proposed config sees the gaps. Agents that did not run are not asked again and have
// no findings.
func TestProposedConfigIsTriedWhole(t *testing.T) {
	r := newRunner(t, map[string]dispatch.Agent{"design-auditor": agentFunc(func(context.Context, dispatch.Task) (pipeline.AgentOutput, error) {
		return pipeline.AgentOutput{}, errors.New("asked in vain")
	})})
	const all = `[{"id": "all", "description": "d", "priority": 1, "trigger": {"type": "always"}, "dispatch": {"agents": ["design-auditor"], "required": true}}]`
	for gate, want := range map[string]pipeline.Decision{
		`[]`: pipeline.DecisionPass,
		`[{"when": "gaps > 0", "decision": "fail"}]`: pipeline.DecisionFail,
	} {
		with, _ := reportWith(t, r, configChange(t), Options{Proposed: proposes(map[string]string{
			config.FileComposition: all, config.FileSettings: `{"gate": {"conditions": ` + gate + `}}`,
		})})
		p := with.ProposedConfig
		if p.Decision != want || !slices.Equal(p.AgentsAdded, []string{"design-auditor"}) {
			t.Errorf("with the gate %s: %+v, want %s by design-auditor as well", gate, p, want)
		}
	}
}

func TestDifference(t *testing.T) {
	one, other := difference([]string{"d", "b", "a"}, []string{"f", "b", "e"})
	if !slices.Equal(one, []string{"a", "d"}) || !slices.Equal(other, []string{"e", "f"}) {
		t.Errorf("only the first has %v, and only the second has %v", one, other)
	}
}

// A finding of the last report is not new under the proposed config either.
func TestProposedConfigKnowsTheLastReport(t *testing.T) {
	r, src := newRunner(t, nil), configChange(t)
	proposed := proposes(map[string]string{config.FileSettings: `{"gate": {"conditions": [{"when": "new_findings > 0", "decision": "fail"}]}}`})
	first, err := r.Run(t.Context(), src, Options{Proposed: proposed})
	if err != nil {
		t.Fatal(err)
	}
	report := first.Review.Report
	again, err := r.Run(t.Context(), src, Options{Proposed: proposed, Previous: func(context.Context, *pipeline.PRFacts) (*pipeline.PreviousReport, error) {
		return &pipeline.PreviousReport{HeadSHA: "older", Findings: report.Findings, Iteration: report.Iteration}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	if was, is := report.ProposedConfig.Decision, again.Review.Report.ProposedConfig.Decision; was != pipeline.DecisionFail || is != pipeline.DecisionPass {
		t.Errorf("decisions %s and then %s, want fail while the finding is new, and then pass", was, is)
	}
}

// If a stage failed, a trial has nothing to compare with.
func TestProposedConfigIsNotTriedAfterAFailure(t *testing.T) {
	r := newRunner(t, nil)
	in := aggregate.Input{
		Facts:  &pipeline.PRFacts{Files: pipeline.List[pipeline.File]{{Path: ".github/reviewgate/review-rules.json"}}},
		Config: shipped(t), Manifest: &pipeline.AgentManifest{}, Failed: &pipeline.Incompleteness{What: "stage"},
	}
	got := r.preview(t.Context(), in, nil, nil, Options{Proposed: func(context.Context, *pipeline.PRFacts) (*config.Config, error) {
		t.Error("the proposed config is read")
		return shipped(t), nil
	}})
	want := pipeline.ProposedConfig{Files: pipeline.List[string]{".github/reviewgate/review-rules.json"}, Note: noteIncomplete}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// ending is a context that ends after a number of calls.
type ending struct {
	context.Context
	after int
}

func (c *ending) Err() error {
	if c.after--; c.after < 0 {
		return context.DeadlineExceeded
	}
	return nil
}

func TestProposedConfigThatIsNotTriedSaysWhy(t *testing.T) {
	good := proposes(map[string]string{config.FileSettings: `{"mode": "advisory"}`})
	for name, tt := range map[string]struct {
		proposed func(context.Context, *pipeline.PRFacts) (*config.Config, error)
		asks     int // the number of calls after which the time is over
		note     string
	}{
		"there is none":          {func(context.Context, *pipeline.PRFacts) (*config.Config, error) { return nil, nil }, 9, noteUnread},
		"it can't be read":       {func(context.Context, *pipeline.PRFacts) (*config.Config, error) { return nil, errors.New("502") }, 9, noteUnread},
		"reading is cut short":   {func(context.Context, *pipeline.PRFacts) (*config.Config, error) { return nil, context.DeadlineExceeded }, 0, noteOutOfTime},
		"it comes too late":      {good, 0, noteOutOfTime},
		"the trial is cut short": {good, 1, noteOutOfTime},
	} {
		p := previewer{
			runner: newRunner(t, nil), options: Options{Proposed: tt.proposed},
			in: aggregate.Input{Facts: &pipeline.PRFacts{Files: pipeline.List[pipeline.File]{{Path: ".github/reviewgate/review-settings.json"}, {}, {}}}, Config: shipped(t), Manifest: &pipeline.AgentManifest{}},
		}
		files := pipeline.List[string]{".github/reviewgate/review-settings.json"}
		want := pipeline.ProposedConfig{Files: files, Note: tt.note}
		if diff := cmp.Diff(want, p.guarded(&ending{t.Context(), tt.asks}, pipeline.ProposedConfig{Files: files})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// If a trial fails half-way, only the failure is shown.
func TestProposedConfigThatPanicsHalfWay(t *testing.T) {
	panics := 0
	p := previewer{
		runner: newRunner(t, nil),
		in:     aggregate.Input{Facts: &pipeline.PRFacts{}, Config: shipped(t)}, // the missing manifest is read last
		options: Options{
			Proposed: proposes(map[string]string{config.FileSettings: `{"mode": "advisory"}`}),
			Panicked: func(string, error, []byte) { panics++ },
		},
	}
	files := pipeline.List[string]{".github/reviewgate/review-settings.json"}
	want := pipeline.ProposedConfig{Files: files, Note: noteFailed}
	if diff := cmp.Diff(want, p.guarded(t.Context(), pipeline.ProposedConfig{Files: files})); diff != "" || panics != 1 {
		t.Errorf("%d panics reported (-want +got):\n%s", panics, diff)
	}
}

// Files that replace each other are named once.
func TestConfigFilesAreNamedOnce(t *testing.T) {
	const a, b = config.RepositoryDir + "/review-agents.json", config.RepositoryDir + "/review-rules.json"
	got := config.ChangedFiles(&pipeline.PRFacts{Files: pipeline.List[pipeline.File]{{Path: a, PreviousPath: b}, {Path: b, PreviousPath: a}}})
	if !slices.Equal(got, []string{a, b}) {
		t.Errorf("files %v", got)
	}
}

// An agent that is not part of reviewgate is not asked a second time.
func TestProposedConfigReusesOtherAgentsResults(t *testing.T) {
	calls := 0
	once := agentFunc(func(ctx context.Context, task dispatch.Task) (pipeline.AgentOutput, error) {
		calls++
		answer, err := says("P1").Review(ctx, task)
		return answer.Output, err
	})
	r := newRunner(t, map[string]dispatch.Agent{"finance-sme": once})
	out, err := r.Run(t.Context(), configChange(t), Options{Proposed: proposes(map[string]string{config.FileSettings: `{"check": {"annotations": false}}`})})
	if err != nil {
		t.Fatal(err)
	}
	p := out.Review.Report.ProposedConfig
	if calls != 1 || p.Decision != out.Review.Report.Decision || p.FindingsNew+p.FindingsGone != 0 {
		t.Errorf("%d calls, %+v", calls, p)
	}
}

// A trial that does not end is abandoned, and the review is complete without it.
func TestProposedConfigIsAbandonedInTime(t *testing.T) {
	r, src := newRunner(t, nil), configChange(t)
	synctest.Test(t, func(t *testing.T) {
		r.previews = make(chan struct{}, maxPreviews) // within this test's bubble
		end := make(chan struct{})
		for range maxPreviews + 1 { // the last slot is taken
			out, err := r.Run(t.Context(), src, Options{Proposed: func(context.Context, *pipeline.PRFacts) (*config.Config, error) {
				<-end // like a config that loads slowly and ignores its context
				return shipped(t), nil
			}})
			if err != nil {
				t.Fatal(err)
			}
			report := out.Review.Report
			if p := report.ProposedConfig; p.Note != noteOutOfTime || p.Decision != "" {
				t.Errorf("%+v, want a note that the time was over", p)
			}
			if report.Decision != pipeline.DecisionNeedsFixes || len(report.Incomplete) > 0 {
				t.Errorf("decision %s, incomplete %+v", report.Decision, report.Incomplete)
			}
		}
		close(end)
	})
}

func TestProposedConfigDoesNotEnterTheCache(t *testing.T) {
	r := newRunner(t, nil)
	r.Engines = NewEngines()
	reportWith(t, r, configChange(t), Options{Proposed: proposes(map[string]string{config.FileSettings: `{"mode": "advisory"}`})})
	if _, ok := r.Engines.cache.Get(shipped(t).Key); !ok || r.Engines.cache.Len() != 1 {
		t.Errorf("%d configs were compiled and kept, want only the one in force, which is kept: %v", r.Engines.cache.Len(), ok)
	}
}

// Each trial frees its slot, or the third would wait forever.
func TestProposedConfigFreesItsSlot(t *testing.T) {
	r := newRunner(t, nil)
	for range maxPreviews + 1 {
		out, err := r.Run(t.Context(), configChange(t), Options{Proposed: proposes(map[string]string{config.FileSettings: `{"mode": "advisory"}`})})
		if err != nil {
			t.Fatal(err)
		}
		if p := out.Review.Report.ProposedConfig; p.Note != "" || p.Decision == "" {
			t.Fatalf("not tried: %+v", p)
		}
	}
}

// The trial shows what the proposed config would decide, even if a person decided by hand.
func TestProposedConfigIsTriedWithoutDecisionsByHand(t *testing.T) {
	o := Options{Proposed: proposes(map[string]string{config.FileSettings: `{"gate": {"conditions": []}}`})}
	plain, _ := reportWith(t, newRunner(t, nil), configChange(t), o)
	o.Memory = func(context.Context, *pipeline.PRFacts, *pipeline.Classification) (pipeline.Memory, error) {
		return pipeline.Memory{ByHand: &pipeline.HandDecision{Action: pipeline.HandReject, By: "alice"}}, nil
	}
	rejected, _ := reportWith(t, newRunner(t, nil), configChange(t), o)
	if rejected.Decision != pipeline.DecisionFail {
		t.Errorf("rejected by hand: %s", rejected.Decision)
	}
	if diff := cmp.Diff(plain.ProposedConfig, rejected.ProposedConfig); diff != "" {
		t.Error(diff)
	}
}

// Problems of the exceptions in force are not reported as problems of the proposed ones.
func TestProposedExceptionsReportOnlyTheirOwnProblems(t *testing.T) {
	src := change(t)
	src.files = append(src.files, raw.ChangedFile{Path: normalize.AttributesFile, Status: pipeline.FileAdded, Additions: 1, Patch: "@@ -0,0 +1 @@\n+*.go -text"})
	broken := *src.cfg
	broken.InForce.Problems = append(slices.Clip(broken.InForce.Problems), pipeline.ConfigProblem{File: config.FileRules, Problem: "it was broken before"})
	src.cfg = &broken
	with, _ := reportWith(t, newRunner(t, nil), src, Options{
		Proposed: proposes(nil),
		File: func(context.Context, string, string, int64) ([]byte, bool, error) {
			return make([]byte, normalize.MaxAttributes+1), true, nil
		},
	})
	if got := with.ProposedConfig.Problems; len(got) != 1 || got[0].File != normalize.AttributesFile {
		t.Errorf("problems %+v, want the one of %s", got, normalize.AttributesFile)
	}
}

// The policy tests run after the trial and under its config. What goes wrong with them leaves the
// outcome of the trial as it is.
func TestPolicyTestsOfAProposedConfig(t *testing.T) {
	r := newRunner(t, nil)
	proposed := proposes(map[string]string{config.FileSettings: `{"gate": {"conditions": []}}`})
	failed := &pipeline.PolicyTests{Cases: 2, Failed: 1, Failures: pipeline.List[pipeline.TestFailure]{{Name: "a", Why: strings.Repeat("x", 500)}}}
	for name, tt := range map[string]struct {
		tests func(context.Context, *pipeline.PRFacts, *Engine) *pipeline.PolicyTests
		want  *pipeline.PolicyTests
	}{
		"none":  {func(context.Context, *pipeline.PRFacts, *Engine) *pipeline.PolicyTests { return nil }, nil},
		"panic": {func(context.Context, *pipeline.PRFacts, *Engine) *pipeline.PolicyTests { panic("x") }, &pipeline.PolicyTests{Note: noteTestsFailed}},
		"fail": {func(_ context.Context, f *pipeline.PRFacts, proposed *Engine) *pipeline.PolicyTests {
			if cfg := proposed.Config(); len(cfg.Settings.Gate.Conditions) > 0 || len(f.Files) == 0 {
				t.Error("the tests do not run under the proposed config")
			}
			return failed
		}, &pipeline.PolicyTests{Cases: 2, Failed: 1, Failures: pipeline.List[pipeline.TestFailure]{{Name: "a", Why: strings.Repeat("x", maxTestWhy-1) + "…"}}}},
	} {
		with, _ := reportWith(t, r, configChange(t), Options{Proposed: proposed, Tests: tt.tests})
		if got := with.ProposedConfig; got.Decision != pipeline.DecisionPass || got.Note != "" {
			t.Errorf("%s: %+v", name, got)
		}
		if diff := cmp.Diff(tt.want, with.ProposedConfig.Tests); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	broken := proposes(map[string]string{config.FileSettings: `{"gate": 7}`})
	with, _ := reportWith(t, r, configChange(t), Options{Proposed: broken, Tests: func(context.Context, *pipeline.PRFacts, *Engine) *pipeline.PolicyTests {
		t.Error("tests of a broken config are run")
		return nil
	}})
	if len(with.ProposedConfig.Problems) == 0 {
		t.Error("the broken config has no problem")
	}
}

// Policy tests that don't end delay the review by no more than their time, and lose nothing of the
// trial. They take slots of their own, so that further trials don't wait for them.
func TestEndlessPolicyTests(t *testing.T) {
	r, src := newRunner(t, nil), configChange(t)
	synctest.Test(t, func(t *testing.T) {
		r.previews, r.testing = make(chan struct{}, maxPreviews), make(chan struct{}, maxPreviews) // within this test's bubble
		end := make(chan struct{})
		defer close(end)
		for range maxPreviews + 1 { // the last slot is taken
			begun := time.Now()
			out, err := r.Run(t.Context(), src, Options{
				Proposed: proposes(map[string]string{config.FileSettings: `{"gate": {"conditions": []}}`}),
				Tests: func(context.Context, *pipeline.PRFacts, *Engine) *pipeline.PolicyTests {
					<-end
					return nil
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			got := out.Review.Report.ProposedConfig
			if took := time.Since(begun); took != testsTime || got.Decision != pipeline.DecisionPass || got.Tests == nil || got.Tests.Note != NoteTestsLate {
				t.Errorf("after %s: %+v", took, got)
			}
		}
	})
}
