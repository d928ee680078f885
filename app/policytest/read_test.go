package policytest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/config"
)

// good is a case that passes with the defaults.
const good = `{
  "$schema": "https://raw.githubusercontent.com/reviewgate/reviewgate/main/config/schemas/policy-test.json",
  "name": "a client that trusts every server",
  "description": "It must not pass.",
  "change": {
    "title": "feat: read stock from the warehouse",
    "body": ["The shop asks the warehouse.", "Tested by hand."],
    "author": "mallory",
    "author_type": "User",
    "author_association": "FIRST_TIMER",
    "labels": ["stock"],
    "milestone": "7",
    "draft": true,
    "repository": "acme/web",
    "base": "release",
    "default_branch": "trunk",
    "head": "stock",
    "fork": true,
    "commits": ["feat: client", "fix: client"],
    "root_files": ["go.mod"],
    "gitattributes": "gen/* linguist-generated\n",
    "files": {
      "store/client.go": {"head": ["package store", "", "var c = &tls.Config{InsecureSkipVerify: true}"]},
      "store/b.go": {"base": "package store\n\nvar b = 1\n", "head": "package store\n\nvar b = 2\n"},
      "store/d.go": {"base": "package d\n", "head": "package store\n", "from": "d/d.go"},
      "store/old.go": {"base": "package store\n"},
      "store/empty.go": {"head": ""}
    }
  },
  "on": "2026-11-27",
  "expect": {
    "decision": "needs_fixes",
    "condition": "major > 0",
    "agents": ["security-reviewer"],
    "not_agents": ["infra-reviewer"],
    "findings": [{"rule": "sec-tls-verify-01", "agent": "security-reviewer", "path": "store/client.go", "line": 3, "severity": "major"}],
    "not_findings": [{"severity": "critical"}]
  }
}`

// problemsOf reads a text and checks its cases with the defaults.
func problemsOf(text string) []string {
	cfg, _ := config.Load()
	_, problems, _ := Read(context.Background(), []config.File{{Path: "tests/a.json", Text: []byte(text)}}, cfg)
	var out []string
	for _, p := range problems.Listed() {
		out = append(out, config.FormatProblem(p))
	}
	return out
}

// edited is the good case with a text in it replaced.
func edited(t *testing.T, old, text string) string {
	t.Helper()
	return once(t, good, old, text)
}

// once replaces a text that a case has once.
func once(t *testing.T, in, old, text string) string {
	t.Helper()
	if n := strings.Count(in, old); n != 1 {
		t.Fatalf("%q is %d times in the case", old, n)
	}
	return strings.Replace(in, old, text, 1)
}

func TestRead(t *testing.T) {
	if p := problemsOf("[" + good + "]"); len(p) > 0 {
		t.Errorf("problems %q", p)
	}
	cfg, _ := config.Load()
	cases, problems, _ := Read(t.Context(), []config.File{{Path: "a.json", Text: []byte(good)}, {Path: "b.json", Text: []byte(good)}}, cfg)
	want := "b.json:3:11: /name: another case has this name, in a.json on line 1; give one of the two another name"
	if len(cases) != 1 || len(problems.List) != 1 || config.FormatProblem(problems.List[0]) != want {
		t.Errorf("%d cases, problems %v, want %s", len(cases), problems, want)
	}
}

// Every mistake is named with its place and a remedy.
func TestReadRefuses(t *testing.T) {
	outputs := edited(t, `"expect"`, `"outputs": [{"agent": "code-scanning", "findings": []}],
  "expect"`)
	many := func(entry string) string { return strings.TrimSuffix(strings.Repeat(entry+",", maxList+1), ",") }
	for _, test := range []struct{ old, text, want string }{
		{`"name": "a client that trusts every server",`, ``, `a.json:1:1: "name" is missing; add "name"`},
		{`"a client that trusts every server"`, `"a\nb"`, `a.json:3:11: /name: this is not a name on one line; use at most 120 characters`},
		{`"description"`, `"descripton"`, `a.json:4:3: /descripton: "descripton" is not known here; did you mean "description"?`},
		{`"draft": true`, `"draft": "yes"`, `/change/draft: draft is a string, but must be true or false`},
		{`"repository": "acme/web"`, `"repository": "acme"`, `/change/repository: this is not the full name of a repository; write OWNER/NAME`},
		{`"FIRST_TIMER"`, `"STRANGER"`, `/change/author_association: "STRANGER" is not an author_association; use COLLABORATOR`},
		{`"title": "feat: read stock from the warehouse",`, ``, `/change: "title" is missing`},
		{`"commits": [`, `"diff": "x", "commits": [`, `/change: a change has either "files" or a "diff"; write one of the two`},
		{`"files"`, `"diffs"`, `/change: a change has either "files" or a "diff"`},
		{`"store/empty.go"`, `"../empty.go"`, `/change/files/..~1empty.go: the name is not a path within a repository`},
		{`"store/empty.go": {"head": ""}`, `"store/empty.go": {}`, `/change/files/store~1empty.go: the file has no text`},
		{`"head": "package store\n\nvar b = 2\n"`, `"head": "package store\n\nvar b = 1\n"`, `base and head are the same, so nothing is changed`},
		{`"base": "package d\n", `, ``, `a moved file has a text before and one after`},
		{`"head": ["package store", "", `, `"head": ["package store\nx", `, `a line of the list has a line break`},
		{`"head": ["package store", "", `, `"head": [7, `, `head[0] is a number, but must be a string`},
		{`"head": ""`, `"head": "\u0000"`, `the text has a NUL`},
		{`"head": ""`, `"head": {}`, `this is not a text; write a string, or a list of lines`},
		{`"findings": []}`, `"findings": [{"title": "x"}]}`, `/outputs/0/findings/0: "message" is missing`},
		{`"findings": []}`, `"findings": [], "finding": []}`, `/outputs/0/finding: this is not known in an agent's output`},
		{`"findings": []}`, `"findings": [{"title": "x", "message": "m", "severity": "warn", "confidence": 1, "path": "a"}]}`, `the agent "code-scanning" does not grade by pass, warn and fail`},
		{`"agent": "code-scanning"`, `"agent": "secrets"`, `/outputs/0/agent: the test runs the agent "secrets" itself; leave out its output`},
		{`"agent": "code-scanning"`, `"agent": "code-scaning"`, `/outputs/0/agent: the config has no agent "code-scaning"; did you mean "code-scanning"?`},
		{`"major > 0"`, `""`, `/expect/condition: the condition is empty; write "no condition held" if none must hold`},
		{`"needs_fixes"`, `"block"`, `/expect/decision: "block" is not a decision; use fail, needs_fixes, pass_with_warnings or pass`},
		{`["infra-reviewer"]`, `["typo"]`, `/expect/not_agents/0: the config has no agent "typo"; use api-reviewer`},
		{`["infra-reviewer"]`, `["security-reviewer"]`, `/expect/agents/0: this agent is also in not_agents; keep one of the two`},
		{`"agents": ["security-reviewer"]`, `"agents": ["security"]`, `the config has no agent "security"; did you mean "security-reviewer"?`},
		{`"rule": "sec-tls-verify-01"`, `"rule": "sec-tls-verify-1"`, `/expect/findings/0/rule: the config has no rule "sec-tls-verify-1"; did you mean "sec-tls-verify-01"?`},
		{`{"severity": "critical"}`, `{"rule": "secret-no-such-token"}`, `/expect/not_findings/0/rule: the config has no rule "secret-no-such-token"`},
		{`{"severity": "critical"}`, `{"path": "store/clients.go"}`, `/expect/not_findings/0/path: the change has no such file, so nothing can be found in it`},
		{`{"severity": "critical"}`, `{"path": "store/client.go", "line": 4}`, `/expect/not_findings/0/line: the file has 3 lines, so nothing can be found in this one`},
		{`{"severity": "critical"}`, `{"path": "store/old.go", "line": 1}`, `/expect/not_findings/0/line: the file has no lines after the change, so nothing can be found in one`},
		{`{"severity": "critical"}`, `{"rule": "sec-tls-verify-01", "agent": "infra-reviewer"}`, `/expect/not_findings/0/agent: the rule belongs to the agent "security-reviewer", so no other one reports it`},
		{`{"severity": "critical"}`, `{"rule": "secret-github-pat", "agent": "infra-reviewer"}`, `/expect/not_findings/0/agent: the rule finds secrets, so no other agent reports it`},
		{`{"severity": "critical"}`, `{"rule": "sec-tls-verify-01", "agent": "security-reviewer", "path": "store/client.go", "line": 3, "severity": "major"}`, `/expect/not_findings/0: this finding is also in findings; keep one of the two`},
		{`"findings": []}`, `"findings": [{"title": "x", "message": "m", "severity": "major", "confidence": 1, "path": "a"}]}`, `/outputs/0/findings/0/path: the change has no such file, so the finding would be dropped`},
		{`{"agent": "code-scanning", "findings": []}`, many(`{"agent": "code-scanning", "findings": []}`), `/outputs: the list has 101 entries, more than the limit of 100; keep the entries that tell you most`},
		{`"infra-reviewer"`, many(`"infra-reviewer"`), `/expect/not_agents: the list has 101 entries`},
		{`{"severity": "critical"}`, many(`{"severity": "critical"}`), `/expect/not_findings: the list has 101 entries`},
		{`"2026-11-27"`, `"27 November"`, `/on: this is not a day; write it as 2027-01-31`},
		{`["infra-reviewer"]`, `["` + strings.Repeat("a", 200) + `"]`, `the config has no agent (a text of 202 characters); use`},
		{`{"severity": "critical"}`, `{"line": 3}`, `/expect/not_findings/0/line: this is a line of no file; add its "path"`},
		{`{"severity": "critical"}`, `{}`, `/expect/not_findings/0: this describes no finding`},
	} {
		got := problemsOf(once(t, outputs, test.old, test.text))
		if !slices.ContainsFunc(got, func(p string) bool { return strings.Contains(p, test.want) }) {
			t.Errorf("%s\nin place of %s: problems %q, want %q", test.text, test.old, got, test.want)
		}
	}
	for text, want := range map[string]string{
		``:   "a.json:1:1: the file is empty",
		`[]`: "a.json:1:1: the list has no case; add a case, or remove the file",
		`7`:  "a.json:1:1: a case is a number, but must be an object",
		`{"name": "a", "change": {"title": "t", "files": {"a": {"head": "x"}}}, "expect": {"no_other_findings": false}}`: "/expect: nothing is expected, so the test can't fail; write what must come of it, such as a decision",
		`{"name": "a", "change": {"title": "t", "diff": "what?"}, "expect": {"decision": "pass"}}`:                       "/change/diff: there is no changed file in it",
		`{"name": "a", "change": {"title": "t", "files": {}}, "expect": {"decision": "pass"}}`:                           "/change/files: this is not an object with a file",
		`{"name": "a", "change": [], "expect": 3}`:                                                                       "/expect: expect is a number, but must be an object",
	} {
		if got := problemsOf(text); !strings.Contains(strings.Join(got, "\n"), want) {
			t.Errorf("%s: problems %q, want %q", text, got, want)
		}
	}
}

func TestTooManyCases(t *testing.T) {
	one := func(i int) string {
		return fmt.Sprintf(`{"name": "%d", "change": {"title": "t", "files": {"a": {"head": "x"}}}, "expect": {"decision": "pass"}}`, i)
	}
	list := func(n int) string {
		var all []string
		for i := range n {
			all = append(all, one(i))
		}
		return "[" + strings.Join(all, ",") + "]"
	}
	if p := problemsOf(list(config.MaxTests)); len(p) > 0 {
		t.Errorf("problems of %d cases: %q", config.MaxTests, p)
	}
	if p := problemsOf(list(config.MaxTests + 1)); len(p) != 1 || p[0] != "tests: there are 201 cases, more than the limit of 200; keep the cases that tell you most" {
		t.Errorf("problems of 201 cases: %q", p)
	}
	if p := problemsOf(list(1) + strings.Repeat(" ", config.MaxTestBytes)); len(p) != 1 || p[0] != "tests: the files have more than 1 MB in all; keep the cases that tell you most" {
		t.Errorf("problems of a large file: %q", p)
	}
	cfg, _ := config.Load()
	cases, problems, _ := Read(t.Context(), slices.Repeat([]config.File{{Path: "tests/a.json", Text: []byte(one(1))}}, config.MaxTests+1), cfg)
	if len(cases) > 0 || len(problems.List) != 1 || problems.List[0].Problem != "there are more than 200 files" {
		t.Errorf("%d cases of 201 files, problems %v", len(cases), problems)
	}
}

func TestReadDir(t *testing.T) {
	dir := t.TempDir()
	if files, err := ReadDir(dir); len(files) > 0 || err != nil {
		t.Errorf("without tests: %v, %v", files, err)
	}
	tests := filepath.Join(dir, config.TestsDir)
	if err := os.MkdirAll(tests, 0o750); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"b.json", "a.json", "README.md"} {
		if err := os.WriteFile(filepath.Join(tests, name), []byte(good), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	files, err := ReadDir(dir)
	if err != nil || len(files) != 2 || files[0].Path != filepath.ToSlash(filepath.Join(tests, "a.json")) || string(files[1].Text) != good {
		t.Errorf("%d files, %v", len(files), err)
	}
	for _, name := range []string{"c.JSON", "c.yaml", "c.jsonc"} { // nobody would notice that it is not run
		if err := os.WriteFile(filepath.Join(tests, name), []byte(good), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadDir(dir); err == nil || !strings.Contains(err.Error(), name+" is not read: put cases into files directly in ") {
			t.Errorf("%s: %v", name, err)
		}
		if err := os.Remove(filepath.Join(tests, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(tests, "link.json")); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadDir(dir); err == nil || !strings.Contains(err.Error(), "is not a regular file: put a copy of the text there") {
		t.Errorf("a link: %v", err)
	}
}

// The shipped schema knows the members that a case has, and no others.
func TestSchemaAgrees(t *testing.T) {
	text, err := config.SchemaText(config.SchemaPolicyTest)
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Defs map[string]struct {
			Properties map[string]any `json:"properties"`
		} `json:"$defs"`
	}
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	for name, keys := range map[string][]string{"case": caseKeys, "change": changeKeys, "file": fileKeys, "expect": expectKeys, "finding": placeKeys} {
		var got []string
		for key := range schema.Defs[name].Properties {
			got = append(got, key)
		}
		slices.Sort(got)
		if diff := cmp.Diff(slices.Sorted(slices.Values(keys)), got); diff != "" {
			t.Errorf("%s (-code +schema):\n%s", name, diff)
		}
	}
	for _, valid := range []string{good, "[" + good + "]"} {
		if err := config.ValidateData(config.SchemaPolicyTest, []byte(valid)); err != nil {
			t.Error(err)
		}
	}
	for _, wrong := range []string{
		`[]`, edited(t, `"needs_fixes"`, `"block"`), edited(t, `"FIRST_TIMER"`, `"STRANGER"`), edited(t, `"description"`, `"text"`),
		edited(t, `"files"`, `"diffs"`), edited(t, `{"severity": "critical"}`, `{"line": 3}`), edited(t, `{"severity": "critical"}`, `{}`),
	} {
		if config.ValidateData(config.SchemaPolicyTest, []byte(wrong)) == nil {
			t.Errorf("the schema allows %s", wrong)
		}
	}
}

// Whatever a file holds, it is read or refused with a place, and what is read can be run.
func FuzzRead(f *testing.F) {
	f.Add([]byte(good))
	f.Add([]byte("[" + good + "]"))
	f.Add([]byte(`{"name": "a", "change": {"title": "t", "diff": ["--- a/x", "+++ b/x", "@@ -1 +1 @@", "-a", "+b"]}, "expect": {"decision": "pass"}}`))
	f.Add([]byte(`{"name": "a", "change": {"title": "", "files": {"a": {"head": [""], "from": ".."}}}, "outputs": [{"agent": "", "findings": [{}]}], "expect": {"findings": [{}]}}`))
	cfg, _ := config.Load()
	f.Fuzz(func(t *testing.T, text []byte) {
		cases, problems, _ := Read(t.Context(), []config.File{{Path: "tests/a.json", Text: text}}, cfg)
		if len(cases) == 0 && len(problems.List) == 0 {
			t.Fatal("neither a case nor a problem")
		}
		for _, p := range problems.Listed() {
			if p.File == "" || p.Problem == "" || p.Remedy == "" {
				t.Errorf("a problem without a place or a remedy: %+v", p)
			}
		}
		for _, c := range cases {
			files, err := source{&c.change, cfg}.Files(t.Context())
			if err != nil || len(files.Files) == 0 {
				t.Errorf("%d files: %v", len(files.Files), err)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if r := Run(ctx, cases[:min(len(cases), 1)], cfg, Options{Engines: engines}); r.Passed+r.Failed+r.NotRun != r.Cases || len(Text(r)) == 0 {
			t.Errorf("%+v", r)
		}
	})
}
