package rules_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/rules"
)

// A build repeats the code of libraries, under other short names. What it adds is a match, also in place
// of something else that matches.
func TestBundled(t *testing.T) {
	const dir = "public/build/assets/"
	long := strings.Repeat("a();", 500)
	bundle := func(path, previous string, lines ...string) pipeline.File {
		if previous != "" || strings.HasPrefix(lines[0], "-") {
			lines = append(lines, "-"+long)
		}
		return with(file(path, lines...), func(f *pipeline.File) {
			f.PreviousPath, f.Language, f.Bundle, f.GeneratedByPath = previous, "JavaScript", true, true
		})
	}
	const old, renamed, other = "-;eF.run=a(b.hash);", "+;qq.run=c(d.hash);", "+;qq.run=c(location.hash);"
	gone := with(bundle(dir+"vue-1a3b5c7d.js", "", old), func(f *pipeline.File) { f.Status, f.Bundle = pipeline.FileRemoved, false })
	many := "+" + strings.Repeat("x.run=a(b.hash);", 1001)
	for name, tt := range map[string]struct {
		files []pipeline.File
		final bool
		want  int
	}{
		"built again":                         {[]pipeline.File{bundle(dir+"app-2a4b6c8d.js", dir+"app-1a3b5c7d.js", old, renamed)}, false, 0},
		"built again in place":                {[]pipeline.File{bundle(dir+"app-3a5b7c9d.js", "", old, renamed)}, false, 0},
		"moved to another bundle":             {[]pipeline.File{bundle(dir+"app-2a4b6c8d.js", "", renamed), gone}, false, 0},
		"more in place of it":                 {[]pipeline.File{bundle(dir+"app-2a4b6c8d.js", dir+"app-1a3b5c7d.js", old, other)}, false, 1},
		"more beside it":                      {[]pipeline.File{bundle(dir+"app-2a4b6c8d.js", dir+"app-1a3b5c7d.js", old, renamed+other[1:])}, false, 1},
		"once more":                           {[]pipeline.File{bundle(dir+"app-2a4b6c8d.js", dir+"app-1a3b5c7d.js", old, renamed, renamed)}, false, 2},
		"within it":                           {[]pipeline.File{bundle(dir+"app-2a4b6c8d.js", dir+"app-1a3b5c7d.js", old, "+;qq.run=c(d.run=e(),f.hash);")}, false, 1},
		"beside other code":                   {[]pipeline.File{bundle(dir+"app-2a4b6c8d.js", dir+"app-1a3b5c7d.js", "-one();"+old[1:]+"two()", "+three();"+renamed[1:]+"four()")}, false, 0},
		"in other lines":                      {[]pipeline.File{bundle(dir+"app-2a4b6c8d.js", dir+"app-1a3b5c7d.js", "-;eF.run=", "-a(b.hash);", "+;qq.run=", "+c(d.hash);")}, false, 0},
		"far from its end":                    {[]pipeline.File{bundle(dir+"app-2a4b6c8d.js", dir+"app-1a3b5c7d.js", old, "+;qq.run=c("+strings.Repeat("d,", 10_000)+")")}, false, 0},
		"not far from its end":                {[]pipeline.File{bundle(dir+"app-2a4b6c8d.js", dir+"app-1a3b5c7d.js", old, "+;qq.run=c("+strings.Repeat("d,", 900)+")")}, false, 1},
		"across chunks":                       {[]pipeline.File{bundle(dir+"app-2a4b6c8d.js", dir+"app-1a3b5c7d.js", old, "+"+strings.Repeat("d,", 2046)+other[1:])}, false, 1},
		"with a letter that folds to another": {[]pipeline.File{bundle(dir+"app-2a4b6c8d.js", dir+"app-1a3b5c7d.js", old, renamed+"'\u212a'")}, false, 0},
		"more beside such a letter":           {[]pipeline.File{bundle(dir+"app-2a4b6c8d.js", dir+"app-1a3b5c7d.js", old, renamed+"'\u212a'", other)}, false, 1},
		"from another folder":                 {[]pipeline.File{bundle("dist/app-2a4b6c8d.js", "", renamed), gone}, false, 1},
		"too many to compare":                 {[]pipeline.File{bundle(dir+"app-2a4b6c8d.js", dir+"app-1a3b5c7d.js", "-"+many[1:], many)}, false, 1},
		"in a file that is not a bundle":      {[]pipeline.File{with(bundle(dir+"app-3a5b7c9d.js", "", old, renamed), func(f *pipeline.File) { f.Bundle = false })}, false, 1},
		"of a rule that the base insists on":  {[]pipeline.File{bundle(dir+"app-3a5b7c9d.js", "", old, renamed)}, true, 1},
	} {
		r := rule(config.Match{Pattern: `\.run=\w+\([^()]*\)`})
		r.Final = tt.final
		e, err := rules.Compile([]config.Rule{r})
		if err != nil {
			t.Fatal(err)
		}
		if found := review(t, e.Scan(&pipeline.PRFacts{Files: tt.files}, classification), "agent"); len(found) != tt.want {
			t.Errorf("%s: %d findings, want %d", name, len(found), tt.want)
		}
	}
}

// The author of a change can't hide a new match behind one of the base that nobody found there, behind
// one that is still there, or behind a limit.
func TestBundledAttacks(t *testing.T) {
	const (
		dir      = "dist/"
		old, now = "-;eF.run=a(b.hash);", "+;qq.run=c(d.hash);"
	)
	long := strings.Repeat("a();", 500)
	bundle := func(path, previous string, lines ...string) pipeline.File {
		if previous != "" || strings.HasPrefix(lines[0], "-") {
			lines = append(lines, "-"+long)
		}
		return with(file(path, lines...), func(f *pipeline.File) {
			f.PreviousPath, f.Language, f.Bundle, f.GeneratedByPath = previous, "JavaScript", true, true
		})
	}
	removed := func(path string, lines ...string) pipeline.File {
		return with(file(path, lines...), func(f *pipeline.File) { f.Status, f.Language = pipeline.FileRemoved, "JavaScript" })
	}
	app := func(lines ...string) []pipeline.File {
		return []pipeline.File{bundle(dir+"app-2a4b6c8d.js", dir+"app-1a3b5c7d.js", lines...)}
	}
	pattern := `\.run=\w+\([^()]*\)`
	far := "+;qq.run=c(" + strings.Repeat("d,", 10_000) + ")"
	for name, tt := range map[string]struct {
		files   []pipeline.File
		rule    config.Rule
		ignored string
		want    int
	}{
		"its ends far from each other": {files: app("-one()", far), want: 1},
		"beside an excused one":        {files: app("-;eF.run=a(b.hash)/*safe*/;", now), rule: rule(config.Match{Pattern: pattern, NotPattern: "safe"}), want: 1},
		"a safe call of a short name": {files: app("-;eF.run=esc(b.hash);", "+;eF.run=foo(b.hash);"), want: 1,
			rule: rule(config.Match{Pattern: `\.run=.*\bb\.hash`, Source: `\bb\.hash`, SafeCalls: []string{"esc"}})},
		"refuted at the base by the file":         {files: app(old, "-'use safe'", now), rule: rule(config.Match{Pattern: pattern, NotInFile: "use safe"}), want: 1},
		"refuted at the base by the change":       {files: app(old, "-'use safe'", now), rule: rule(config.Match{Pattern: pattern, NotInChange: "use safe"}), want: 1},
		"ignored at the base by a comment":        {files: app("-// reviewgate:ignore rule", old, now), want: 1},
		"ignored at the base by the config":       {files: []pipeline.File{bundle(dir+"app-2a4b6c8d.js", "", now), removed(dir+"lib-1a3b5c7d.js", old, "-"+long)}, ignored: dir + "lib-1a3b5c7d.js", want: 1},
		"excluded at the base":                    {files: app(old, now), rule: rule(config.Match{Pattern: pattern, ExcludePaths: []string{dir + "app-1*"}}), want: 1},
		"from code beside the bundles":            {files: []pipeline.File{bundle(dir+"app-2a4b6c8d.js", "", now), removed(dir+"shop.js", "-// "+old[1:])}, want: 1},
		"a copy":                                  {files: []pipeline.File{with(app(old, now)[0], func(f *pipeline.File) { f.Status = pipeline.FileCopied })}, want: 1},
		"beyond the limit of old ones":            {files: app(old, now, "+;qq.run=c(location.hash);"), rule: rule(config.Match{Pattern: pattern, MaxPerFile: 1}), want: 1},
		"a secret of short parts":                 {files: app("-;run='ab-cd-ef'", "+;run='gh-ij-kl'"), rule: with(rule(config.Match{Pattern: `run='[\w-]+'`}), func(r *config.Rule) { r.Category = "secrets" }), want: 1},
		"in another spelling, beside the old one": {files: app(old, now, `+;qq["run"]=c(d.hash);`), want: 1},
		"in a domain in which it matters more": {files: app(old, now), rule: with(rule(config.Match{Pattern: pattern}), func(r *config.Rule) {
			r.SeverityIn = map[string]pipeline.Severity{"payments": pipeline.SeverityCritical}
		}), want: 1},
		"in a comment at the base":             {files: app("-/*! usage: eF.run=a(b.hash) */", now), rule: rule(config.Match{Pattern: pattern, Comments: new(bool)}), want: 1},
		"far from what excused it at the base": {files: app("-;eF.run=a(b.hash),"+strings.Repeat("d,", 3_000)+"safe", now), rule: rule(config.Match{Pattern: pattern, NotPattern: "safe"}), want: 1},
		"did not count yet at the base":        {files: app(old, now), rule: rule(config.Match{Pattern: pattern, NotBefore: []config.NotBefore{{Pattern: "eF", Day: "2999-01-01"}}}), want: 1},
		"put together from two hunks": {files: []pipeline.File{with(app(old, now)[0], func(f *pipeline.File) {
			f.Hunks = slices.Concat(file("a.js", "-"+long, "-;eF.run=a(", now).Hunks, file("b.js", "-b.hash);").Hunks)
		})}, want: 1},
		"a rule that matches everything":       {files: app("-a", "+b"), rule: rule(config.Match{Pattern: "x*"}), want: 1},
		"once more in code beside the bundles": {files: append(app(old, now), with(file(dir+"shop.js", now), func(f *pipeline.File) { f.Language = "JavaScript" })), want: 2},
	} {
		if tt.rule.Match == nil {
			tt.rule = rule(config.Match{Pattern: pattern})
		}
		e, err := rules.Compile([]config.Rule{tt.rule})
		if err != nil {
			t.Fatal(err)
		}
		s := e.Scan(&pipeline.PRFacts{Files: tt.files}, classification).Ignoring(func(path string) bool { return path == tt.ignored })
		if found := review(t, s, "agent"); len(found) != tt.want {
			t.Errorf("%s: %d findings, want %d", name, len(found), tt.want)
		}
	}
}
