package policytest

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
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/pipeline/run"
	"github.com/reviewgate/reviewgate/pipeline/secrets"
)

// tested runs the cases of a text with the defaults and the given settings.
func tested(t *testing.T, settings, text string) *Report {
	t.Helper()
	cfg, problems := config.Load(config.Layer{Name: config.LayerServer, Files: []config.File{{Path: config.FileSettings, Text: []byte(settings)}}})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return Run(t.Context(), read(t, cfg, text), cfg, Options{Engines: engines})
}

// read reads cases without mistakes.
func read(t *testing.T, cfg *config.Config, text string) []*Case {
	t.Helper()
	cases, problems, _ := Read(t.Context(), []config.File{{Path: "tests/a.json", Text: []byte(text)}}, cfg)
	if len(problems.List) > 0 {
		t.Fatal(problems)
	}
	return cases
}

// engines saves compiling the defaults for each test.
var engines = run.NewEngines()

func TestPass(t *testing.T) {
	r := tested(t, `{}`, good)
	if r.Passed != 1 || r.Failed+r.NotRun > 0 {
		t.Errorf("%s", Text(r))
	}
}

// Each expectation can fail, and says what came instead.
func TestFail(t *testing.T) {
	for _, test := range []struct{ expect, want string }{
		{`{"decision": "pass"}`, `decision: want pass, got needs_fixes (major > 0)`},
		{`{"condition": "critical > 0"}`, `condition: want critical > 0, got major > 0`},
		{`{"agents": ["infra-reviewer"]}`, `agent infra-reviewer: not chosen (no file is build, ci, infra, migrations or scripts;`},
		{`{"not_agents": ["secrets"]}`, `agent secrets: chosen by the policy secrets (every change)`},
		{`{"findings": [{"rule": "sec-xxe-01", "path": "store/client.go", "line": 7}]}`, `finding sec-xxe-01 at store/client.go:7: not found; found instead: sec-tls-verify-01 at store/client.go:3`},
		{`{"findings": [{"rule": "sec-tls-verify-01", "path": "store/client.go", "line": 4}]}`, `not found; found instead: sec-tls-verify-01 at store/client.go:3`},
		{`{"findings": [{"severity": "critical"}]}`, `finding critical: not found`},
		{`{"not_findings": [{"rule": "sec-tls-verify-01"}]}`, `finding sec-tls-verify-01: found, and should not be: sec-tls-verify-01 at store/client.go:3`},
		{`{"not_findings": [{"path": "store/client.go"}]}`, `found, and should not be`},
		{`{"no_other_findings": true}`, `finding sec-tls-verify-01 at store/client.go:3: not expected`},
	} {
		before, _, _ := strings.Cut(good, `"expect"`)
		text := before + `"expect": ` + test.expect + "}"
		r := tested(t, `{}`, text)
		if got := strings.Join(r.Results[0].Differences, "\n"); r.Failed != 1 || !strings.Contains(got, test.want) {
			t.Errorf("%s: %s, differences %q, want %q", test.expect, r.Summary(), got, test.want)
		}
	}
}

// An outside agent says what the case says, and without that nothing. The report names it.
func TestOutputs(t *testing.T) {
	const change = `"change": {"title": "feat: sums", "files": {"pricing/total.ts": {"head": ["export const total = 7;"]}}}`
	const finding = `{"title": "It is off by one", "severity": "major", "message": "The sum lacks the last item.", "confidence": 0.9, "path": "pricing/total.ts", "start_line": 1, "rule_id": "own-sum"}`
	silent := `{"name": "silent", ` + change + `, "expect": {"agents": ["code-scanning"], "not_findings": [{"agent": "code-scanning"}]}}`
	says := `{"name": "says", ` + change + `, "outputs": [{"agent": "code-scanning", "findings": [` + finding + `]}],
		"expect": {"findings": [{"rule": "own-sum", "agent": "code-scanning", "path": "pricing/total.ts", "line": 1}]}}`
	unused := `{"name": "unused", ` + change + `, "outputs": [{"agent": "spec-reviewer", "findings": []}], "expect": {"decision": "fail"}}`
	cfg, problems := config.Load(config.Layer{Name: config.LayerServer, Files: []config.File{{Path: config.FileComposition, Text: []byte(
		`[{"id": "scan", "description": "Asks the scanners.", "priority": 5, "trigger": {"type": "always"}, "dispatch": {"agents": ["code-scanning"], "scope": "all", "required": true, "on_failure": "block"}}]`)},
		{Path: config.FileAgents, Text: []byte(`[{"id": "code-scanning", "enabled": true, "scanning": {"apps": ["github-advanced-security"]}}]`)}}})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	r := Run(t.Context(), read(t, cfg, "["+silent+","+says+","+unused+"]"), cfg, Options{})
	text := Text(r)
	for _, want := range []string{
		"3 cases, 2 passed, 1 failed\n", "code-scanning (2 cases)", "case unused: decision: want fail, got",
		"case unused: output of spec-reviewer: not used, because the agent was not chosen\n  tests/a.json:",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// A model that is asked several times gets one output after the other.
func TestOutputsOfModels(t *testing.T) {
	out := func(model, title string) output {
		return output{agent: word{text: "spec-reviewer"}, AgentOutput: pipeline.AgentOutput{Model: model, Findings: pipeline.List[pipeline.Finding]{{Title: title}}}}
	}
	s := said{used: map[int]bool{}, outputs: []output{out("a", "first"), out("b", "other"), out("a", "second"), out("", "any"), out("b", "never")}}
	var got []string
	for _, q := range []pipeline.Question{{Model: "a"}, {Model: "a", Run: 1}, {Model: "b"}, {Model: "c"}, {Model: "c", Run: 5}} {
		answer, err := s.Review(t.Context(), taskOf(q))
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, answer.Output.Findings[0].Title)
	}
	if diff := cmp.Diff([]string{"first", "second", "other", "any", "any"}, got); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	if unused := s.unused(); !slices.Equal(unused, []int{4}) {
		t.Errorf("unused %v, want the last one", unused)
	}
}

// What has no time left is not run, and neither passes nor fails.
func TestNotRun(t *testing.T) {
	cfg, _ := config.Load()
	cases := read(t, cfg, good)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := Run(ctx, cases, cfg, Options{Engines: engines})
	if r.NotRun != 1 || r.Passed+r.Failed > 0 {
		t.Fatalf("%+v", r)
	}
	want := "case a client that trusts every server: not run, because time ran out\n1 case, 0 passed, 0 failed, 1 not run within 10 s\n"
	if diff := cmp.Diff(want, Text(r)); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
}

// A case that takes too long is not run either, and no further one is started.
func TestSlowCase(t *testing.T) {
	cfg, _ := config.Load()
	slow := edited(t, `  "on": "2026-11-27",`, ``)
	other := strings.Replace(slow, "a client that trusts every server", "other", 1)
	slow = strings.Replace(slow, "a client that trusts every server", "slow", 1)
	cases := read(t, cfg, "["+good+","+slow+","+other+"]")
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		r := Run(t.Context(), cases, cfg, Options{Engines: engines, Now: func() time.Time {
			if asked++; asked == 1 {
				time.Sleep(MaxTime + time.Second)
			}
			return time.Now()
		}})
		if r.Passed != 1 || r.NotRun != 2 {
			t.Errorf("%+v", r)
		}
	})
}

// Anybody may write cases with very many mistakes. Only the first ones are listed, the others are
// counted, and nothing is read after the time is over.
func TestManyMistakes(t *testing.T) {
	var agents []string
	for i := range 170 {
		agents = append(agents, fmt.Sprintf(`{"id": "a%s%05d", "kind": "code-scanning", "name": "n", "description": "d", "enabled": false}`, strings.Repeat("x", 57), i))
	}
	cfg, problems := config.Load(config.Layer{Name: config.LayerRepository, Files: []config.File{{Path: config.FileAgents, Text: []byte("[" + strings.Join(agents, ",") + "]")}}})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	words := strings.TrimSuffix(strings.Repeat(`"`+strings.Repeat("q", 63)+`",`, maxList), ",")
	var all []string
	for i := range 100 {
		all = append(all, fmt.Sprintf(`{"name": "%d", "change": {"title": "t", "files": {"a": {"head": "x"}}}, "expect": {"agents": [%s]}}`, i, words))
	}
	file := config.File{Path: "tests/a.json", Text: []byte("[" + strings.Join(all, ",") + "]")}
	cases, got, _ := Read(t.Context(), []config.File{file}, cfg)
	if len(cases) > 0 || len(got.List) != maxProblems || got.More != 100*maxList-maxProblems {
		t.Errorf("%d cases, %d problems and %d more", len(cases), len(got.List), got.More)
	}
	if listed := got.Listed(); len(listed) != maxProblems+1 || config.FormatProblem(listed[maxProblems]) != "tests: there are at least 9950 more mistakes; correct these first" {
		t.Errorf("listed %v", listed[maxProblems:])
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if cases, got, err := Read(ctx, []config.File{file}, cfg); !errors.Is(err, context.Canceled) || len(cases)+len(got.List) > 0 {
		t.Errorf("after the time: %d cases, %v", len(cases), got.List)
	}
	unknown := `{"name": "a"`
	for i := range 60 {
		unknown += fmt.Sprintf(`, "q%d": 1`, i)
	}
	if got := problemsOf(unknown + "}"); len(got) != maxProblems {
		t.Errorf("%d problems of one case", len(got))
	}
}

// A case is reviewed on the day that it names, so that it has the same outcome every day.
func TestOn(t *testing.T) {
	token := "gh" + "p_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
	hash, err := secrets.HashValue(token, "")
	if err != nil {
		t.Fatal(err)
	}
	settings := `{"secrets": {"allow": [{"rule": "secret-github-pat", "value": "` + hash + `", "paths": ["a.go"], "reason": "a test of it", "expires": "2026-11-27"}]}}`
	for on, want := range map[string]int{"2026-11-27": 1, "2026-11-28": 0} {
		r := tested(t, settings, `{"name": "n", "on": "`+on+`", "change": {"title": "feat: x", "files": {"a.go": {"head": ["package a", "", "var c = \"`+token+`\""]}}}, "expect": {"not_findings": [{"agent": "secrets"}]}}`)
		if r.Passed != want {
			t.Errorf("on %s:\n%s", on, Text(r))
		}
	}
}

func TestProposed(t *testing.T) {
	cfg, _ := config.Load()
	engine, err := run.Compile(cfg)
	if err != nil {
		t.Fatal(err)
	}
	files := func(text string) []config.File { return []config.File{{Path: "tests/a.json", Text: []byte(text)}} }
	if got := Proposed(t.Context(), engine, nil, nil); got != nil {
		t.Errorf("without tests: %+v", got)
	}
	if got := Proposed(t.Context(), engine, nil, errors.New("502")); got == nil || got.Note != "they could not be read" {
		t.Errorf("unread: %+v", got)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if got := Proposed(ended, engine, files(good), nil); got == nil || got.Note != "they took too long" || got.Cases > 0 {
		t.Errorf("without time: %+v", got)
	}
	failing := edited(t, `"needs_fixes"`, `"pass"`)
	failing = strings.Replace(failing, `"major > 0"`, `"x"`, 1)
	unknown := strings.Replace(edited(t, `"a client that trusts every server"`, `"other"`), `"infra-reviewer"`, `"typo"`, 1)
	got := Proposed(t.Context(), engine, files("["+failing+","+unknown+"]"), nil)
	want := &pipeline.PolicyTests{
		Cases: 1, Failed: 1,
		Failures: pipeline.List[pipeline.TestFailure]{{Name: "a client that trusts every server", Why: "decision: want pass, got needs_fixes (major > 0), and 1 more"}},
		Problems: got.Problems,
	}
	if diff := cmp.Diff(want, got); diff != "" || len(got.Problems) != 1 || !strings.Contains(got.Problems[0].Problem, `no agent "typo"`) {
		t.Errorf("(-want +got):\n%s\nproblems %v", diff, got.Problems)
	}
}

func taskOf(q pipeline.Question) dispatch.Task {
	return dispatch.Task{Entry: pipeline.ManifestEntry{Agent: "spec-reviewer"}, Model: q.Model, Run: q.Run}
}

// A test of a rule holds while the rule is in evaluation. The decision is the enforced one.
func TestEvaluation(t *testing.T) {
	cfg, problems := config.Load(config.Layer{Name: config.LayerServer, Files: []config.File{
		{Path: config.FileRules, Text: []byte(`[{"id": "sec-tls-verify-01", "mode": "evaluate"}]`)},
	}})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	change, _, _ := strings.Cut(good, `"expect"`)
	for expect, want := range map[string]string{
		`{"decision": "pass", "findings": [{"rule": "sec-tls-verify-01", "path": "store/client.go", "line": 3}]}`: "",
		`{"not_findings": [{"rule": "sec-tls-verify-01"}]}`:                                                       "finding sec-tls-verify-01: found, and should not be",
		`{"decision": "pass", "no_other_findings": true}`:                                                         "not expected",
		`{"decision": "needs_fixes"}`:                                                                             "decision: want needs_fixes, got pass",
	} {
		r := Run(t.Context(), read(t, cfg, change+`"expect": `+expect+`}`), cfg, Options{})
		if got := strings.Join(r.Results[0].Differences, "\n"); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: differences %q, want %q", expect, got, want)
		}
	}
}
