package explain

import (
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/run"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

func load(t testing.TB, files map[string]string) *config.Config {
	t.Helper()
	l := config.Layer{Name: config.LayerRepository, Source: "test"}
	for name, text := range files {
		l.Files = append(l.Files, config.File{Path: name, Text: []byte(text)})
	}
	cfg, problems := config.Load(l)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return cfg
}

// The explanation matches a review of such a change.
func TestExplanationMatchesTheReview(t *testing.T) {
	cfg, _ := config.Load()
	paths := []string{"pricing/tax.ts", ".github/workflows/ci.yml", "web/button.tsx", "go.mod", "docs/a.md", "assets/logo.png", "vendor/x/y.go"}
	x, err := Paths(t.Context(), cfg, paths, nil)
	if err != nil {
		t.Fatal(err)
	}
	runner, err := run.NewRunner(run.Config{Now: noClock})
	if err != nil {
		t.Fatal(err)
	}
	o, err := runner.Run(t.Context(), &change{cfg: cfg, paths: paths}, run.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(o.Review.Classification, x.Classification); diff != "" {
		t.Errorf("classification (-review +explained):\n%s", diff)
	}
	if diff := cmp.Diff(o.Review.Manifest, x.Manifest); diff != "" {
		t.Errorf("manifest (-review +explained):\n%s", diff)
	}
	if len(x.Files) != len(paths) || !slices.IsSortedFunc(x.Files, func(a, b File) int { return strings.Compare(a.Path, b.Path) }) {
		t.Errorf("files %+v", x.Files)
	}
}

func TestFiles(t *testing.T) {
	const rest = `"severity": "major", "name": "n", "category": "c", "description": "d", "detection": "d", "recommendation": "r"`
	cfg := load(t, map[string]string{
		config.FileRules: `{"extends": [], "items": [
			{"id": "all", "agent": "build-reviewer", "match": {"literal": "a"}, ` + rest + `},
			{"id": "removed", "agent": "build-reviewer", "match": {"literal": "a", "on": "removed"}, ` + rest + `},
			{"id": "file", "agent": "build-reviewer", "match": {"pattern": "a", "on": "file"}, ` + rest + `},
			{"id": "new-path", "agent": "build-reviewer", "match": {"pattern": "a", "on": "path"}, ` + rest + `},
			{"id": "title", "agent": "build-reviewer", "match": {"pattern": "a", "on": "title"}, ` + rest + `},
			{"id": "prose", "agent": "build-reviewer", ` + rest + `},
			{"id": "whole", "agent": "build-reviewer", "when": "facts.draft", ` + rest + `},
			{"id": "hygiene", "agent": "pr-hygiene", "when": "facts.draft", ` + rest + `},
			{"id": "go-code", "agent": "build-reviewer", "match": {"literal": "a", "languages": ["Go"], "tests": false}, ` + rest + `},
			{"id": "name", "agent": "finance-sme", "match": {"pattern": "a", "on": "file", "paths": ["**/*.go"]}, ` + rest + `},
			{"id": "money", "agent": "finance-sme", "match": {"literal": "a", "paths": ["**/*.go"], "exclude_paths": ["old/**"]}, ` + rest + `}
		]}`,
		config.FileComposition: `{"extends": [], "items": [
			{"id": "all", "description": "d", "priority": 9, "trigger": {"type": "always"}, "dispatch": {"agents": ["build-reviewer"]}},
			{"id": "finance", "description": "d", "priority": 8, "trigger": {"type": "domain", "domains": ["money"]}, "dispatch": {"agents": ["finance-sme"], "scope": "matched"}},
			{"id": "labelled", "description": "d", "priority": 7, "trigger": {"type": "label", "labels": ["tidy"]}, "dispatch": {"agents": ["pr-hygiene"]}}
		]}`,
		config.FileDomains: `{"extends": [], "items": [
			{"id": "money", "type": "domain", "domain": "money", "description": "d", "weight": 1, "globs": ["money/**", "**/*tax*"]},
			{"id": "shop", "type": "service", "service": "shop", "description": "d", "globs": ["money/**"]}
		]}`,
	})
	x, err := Paths(t.Context(), cfg, []string{"money/tax.go", "a_test.go", "old/tax.go", "a.py", "a.py"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	byPath := map[string]string{}
	for _, f := range x.Files {
		var parts []string
		for _, d := range f.Domains {
			parts = append(parts, d.ID+strings.Join(d.Mappings, "|"))
		}
		parts = append(parts, f.Services...)
		for _, r := range f.Rules {
			if parts = append(parts, r.Agent+":"+strings.Join(r.Rules, "|")); r.OnlyPath {
				parts = append(parts, "(only the path)")
			}
		}
		byPath[f.Path] = strings.Join(parts, " ")
	}
	want := map[string]string{
		"money/tax.go": "money**/*tax*|money/** shop build-reviewer:all|removed|file|go-code finance-sme:name|money",
		"old/tax.go":   "money**/*tax* build-reviewer:all|removed|file|go-code finance-sme:name (only the path)",
		"a_test.go":    "build-reviewer:all|removed|file",
		"a.py":         "build-reviewer:all|removed|file",
	}
	if diff := cmp.Diff(want, byPath); diff != "" {
		t.Error(diff)
	}
	whole := pipeline.List[RulesOfAgent]{{Agent: "build-reviewer", Rules: pipeline.List[string]{"title", "whole"}}} // pr-hygiene would not run
	if diff := cmp.Diff(whole, x.Rules); diff != "" {
		t.Errorf("rules for the whole change (-want +got):\n%s", diff)
	}
}

func TestClean(t *testing.T) {
	for in, want := range map[string]string{"a": "a", "./a/b": "a/b", "a//b/../c": "a/c", "..a": "..a", "a b": "a b"} {
		if got, err := Clean(in); err != nil || got != want {
			t.Errorf("%q: %q, %v; want %q", in, got, err, want)
		}
	}
	for _, in := range []string{"", ".", "..", "../a", "a/../../b", "/a", "a/", strings.Repeat("a", maxPath+1)} {
		if got, err := Clean(in); err == nil {
			t.Errorf("%.20q gives %.20q", in, got)
		}
	}
	if _, err := CleanAll(slices.Repeat([]string{"a"}, maxPaths+1)); err == nil {
		t.Error("too many paths are accepted")
	}
}

func TestReadList(t *testing.T) {
	for in, want := range map[string][]string{
		"":                                  nil,
		"\n\n":                              nil,
		"a\nb/c.go":                         {"a", "b/c.go"},
		"a\r\nb\r\n":                        {"a", "b"},
		"\"caf\\303\\251 \\\"x\\\"\\t\"\nb": {"café \"x\"\t", "b"},
		"a\nb\x00\"c\"\x00":                 {"a\nb", `"c"`},
	} {
		got, err := ReadList(strings.NewReader(in))
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v; want %q", in, got, err, want)
		}
	}
	for name, r := range map[string]io.Reader{
		"bad quotes": strings.NewReader(`"a`),
		"too long":   strings.NewReader(strings.Repeat("a\n", maxList/2+1)),
		"broken":     iotest.ErrReader(errors.New("broken")),
	} {
		if got, err := ReadList(r); err == nil {
			t.Errorf("%s: %d paths", name, len(got))
		}
	}
}

// As many paths as are taken are explained at once.
// What the attributes say of files counts, and what the config ignores is listed.
func TestExceptionsAreExplained(t *testing.T) {
	cfg := load(t, map[string]string{config.FileSettings: `{"ignore": [{"paths": ["gen/**"], "rules": ["sec-tls-verify-01"], "reason": "made"}]}`})
	paths := []string{"gen/a.go", "src/a.go"}
	plain, err := Paths(t.Context(), cfg, paths, nil)
	if err != nil {
		t.Fatal(err)
	}
	x, err := Paths(t.Context(), cfg, paths, []byte("gen/** linguist-generated\n"))
	if err != nil {
		t.Fatal(err)
	}
	count := func(f File) (n int) {
		for _, r := range f.Rules {
			n += len(r.Rules)
		}
		return n
	}
	if gen := x.Files[0]; !gen.Generated || plain.Files[0].Generated || count(gen) >= count(plain.Files[0]) {
		t.Errorf("generated %v with %d rules, without the attributes %v with %d", gen.Generated, count(gen), plain.Files[0].Generated, count(plain.Files[0]))
	}
	want := pipeline.List[Ignored]{{Rules: pipeline.List[string]{"sec-tls-verify-01"}, Reason: "made"}}
	if diff := cmp.Diff(want, x.Files[0].Ignored); diff != "" || x.Files[1].Ignored != nil {
		t.Errorf("ignored (-want +got):\n%s%v", diff, x.Files[1].Ignored)
	}
}

func TestManyPaths(t *testing.T) {
	sample.Variant(t)
	cfg, _ := config.Load()
	var paths []string
	for i := range maxPaths {
		paths = append(paths, "pricing/"+strconv.Itoa(i)+".go")
	}
	x, err := Paths(t.Context(), cfg, paths, nil)
	if err != nil || len(x.Files) != maxPaths || x.Manifest.Entry("finance-sme") == nil {
		t.Fatalf("%v", err)
	}
	var finance pipeline.Domain
	for _, d := range x.Classification.Domains {
		if d.ID == "finance" {
			finance = d
		}
	}
	if len(finance.Files) != maxPaths {
		t.Errorf("%d files are finance", len(finance.Files))
	}
}

func noClock() time.Time { return time.Time{} }

// What is in evaluation is listed apart, and only as far as it looks at the paths.
func TestEvaluationIsExplained(t *testing.T) {
	const rule = `{"id": %ID%, "name": "A word", "severity": "major", "agent": "build-reviewer", "category": "words", "description": "d", "detection": "d",
		"recommendation": "r", "mode": "evaluate", "match": {"literal": "x", "paths": [%PATH%]}}`
	one := func(id, path string) string { return strings.NewReplacer("%ID%", id, "%PATH%", path).Replace(rule) }
	cfg := load(t, map[string]string{
		config.FileRules: "[" + one(`"here"`, `"src/**"`) + "," + one(`"elsewhere"`, `"docs/**"`) + "]",
		config.FileComposition: `[{"id": "tried", "mode": "evaluate", "description": "d", "priority": 1, "trigger": {"type": "path", "globs": ["src/**"]},
			"dispatch": {"agents": ["finance-sme"]}}]`,
	})
	x, err := Paths(t.Context(), cfg, []string{"src/a.go"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := pipeline.List[RulesOfAgent]{{Agent: "build-reviewer", Rules: pipeline.List[string]{"here"}}, {Agent: "finance-sme"}}
	if diff := cmp.Diff(want, x.Evaluation); diff != "" {
		t.Errorf("in evaluation (-want +got):\n%s", diff)
	}
	if x.Manifest.Entry("finance-sme") != nil || slices.ContainsFunc(x.Files[0].Rules, func(r RulesOfAgent) bool { return slices.Contains(r.Rules, "here") }) {
		t.Error("what is in evaluation is explained as enforced")
	}
}

// The rules of the agents that would run are named that nothing checks, and those that only the
// profile strict runs.
func TestIdleRulesAreExplained(t *testing.T) {
	files := map[string]string{config.FileRules: `[{"id": "prose", "severity": "major", "description": "d", "detection": "d"},
		{"id": "strict", "severity": "major", "description": "d", "match": {"literal": "x"}, "profile": "strict"},
		{"id": "elsewhere", "agent": "finance-sme", "severity": "major", "description": "d", "match": {"literal": "x"}, "profile": "strict"}]`}
	named := func(list pipeline.List[RulesOfAgent], id string) bool {
		return slices.ContainsFunc(list, func(r RulesOfAgent) bool { return slices.Contains(r.Rules, id) })
	}
	for _, profile := range []string{config.ProfileDefault, config.ProfileStrict} {
		files[config.FileSettings] = `{"profile": "` + profile + `"}`
		x, err := Paths(t.Context(), load(t, files), []string{"src/a.go"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !named(x.Unchecked, "prose") || named(x.Unchecked, "strict") {
			t.Errorf("%s: unchecked are %v", profile, x.Unchecked)
		}
		inDefault := profile == config.ProfileDefault
		if named(x.Strict, "strict") != inDefault || named(x.Files[0].Rules, "strict") == inDefault || named(x.Strict, "elsewhere") || named(x.Strict, "prose") {
			t.Errorf("%s: left out are %v, and %v look at the file", profile, x.Strict, x.Files[0].Rules)
		}
	}
}
