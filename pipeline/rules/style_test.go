package rules_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/rules"
)

// A finding of a rule on style is only for information where the base has five such places in the same
// directory. Findings of other rules keep their severity, whatever the base has.
func TestHouseStyle(t *testing.T) {
	style := func(change func(*config.Rule)) config.Rule {
		r := config.Rule{ID: "rule", Enabled: true, Agent: "agent", Severity: pipeline.SeverityWarning, Category: "leftovers", Style: true, Match: &config.Match{Literal: "bad("}}
		if change != nil {
			change(&r)
		}
		return r
	}
	old := func(path string, n int) pipeline.File {
		return file(path, slices.Repeat([]string{" bad()"}, n)...)
	}
	in := func(f pipeline.File, change func(f *pipeline.File)) pipeline.File { change(&f); return f }
	added := file("src/a.go", "+bad()")
	four, five := old("src/b.go", 4), old("src/b.go", 5)
	for name, tt := range map[string]struct {
		rule  config.Rule
		files []pipeline.File
		want  string // the number of places if the finding is for information, else empty
	}{
		"five places":                   {style(nil), []pipeline.File{added, five}, "5"},
		"five places of a file before":  {style(nil), []pipeline.File{five, added}, "5"},
		"four places":                   {style(nil), []pipeline.File{added, four}, ""},
		"four places, and a second new": {style(nil), []pipeline.File{file("src/a.go", "+bad()", " a", "+bad( )"), four}, ""},
		"removed lines":                 {style(nil), []pipeline.File{file("src/a.go", "-bad(1)", "-bad(2)", "+bad(3)"), four}, "6"},
		"several files":                 {style(nil), []pipeline.File{added, old("src/b.go", 3), old("src/c.go", 3)}, "6"},
		"several files of directories":  {style(nil), []pipeline.File{added, old("src/b.go", 3), old("lib/c.go", 3)}, ""},
		"a directory below":             {style(nil), []pipeline.File{added, old("src/b/c.go", 5)}, ""},
		"the same file":                 {style(nil), []pipeline.File{file("src/a.go", append(slices.Repeat([]string{" bad()"}, 5), "+bad()")...)}, "5"},
		"a file that came here":         {style(nil), []pipeline.File{added, in(five, func(f *pipeline.File) { f.Status, f.PreviousPath = pipeline.FileRenamed, "lib/b.go" })}, ""},
		"a file that left":              {style(nil), []pipeline.File{added, in(old("lib/b.go", 5), func(f *pipeline.File) { f.Status, f.PreviousPath = pipeline.FileRenamed, "src/b.go" })}, "5"},
		"a copy":                        {style(nil), []pipeline.File{added, in(five, func(f *pipeline.File) { f.Status = pipeline.FileCopied })}, ""},
		"another language":              {style(func(r *config.Rule) { r.Match.Languages = []string{"Go"} }), []pipeline.File{added, in(five, func(f *pipeline.File) { f.Language = "Python" })}, ""},
		"vendored":                      {style(nil), []pipeline.File{added, in(five, func(f *pipeline.File) { f.Vendored = true })}, ""},
		"ignored by the config":         {style(nil), []pipeline.File{added, old("src/ignored.go", 5)}, ""},
		"only comments":                 {style(func(r *config.Rule) { r.Match.Comments = new(bool) }), []pipeline.File{added, file("src/b.go", slices.Repeat([]string{" // bad()"}, 5)...)}, ""},
		"excused":                       {style(func(r *config.Rule) { r.Match.NotPattern = "good" }), []pipeline.File{added, file("src/b.go", slices.Repeat([]string{" good(bad())"}, 5)...)}, ""},
		"severity info":                 {style(func(r *config.Rule) { r.Severity = pipeline.SeverityInfo }), []pipeline.File{added, five}, "5"},
		"a Kelvin sign":                 {style(func(r *config.Rule) { r.Match = &config.Match{Pattern: "(?i)kbad"} }), []pipeline.File{file("src/a.go", "+kbad"), file("src/b.go", slices.Repeat([]string{" \u212abad"}, 5)...)}, "5"},
		"another rule":                  {style(func(r *config.Rule) { r.Style = false }), []pipeline.File{added, five}, ""},
		"a major rule":                  {style(func(r *config.Rule) { r.Severity = pipeline.SeverityMajor }), []pipeline.File{added, five}, ""},
		"major in a domain":             {style(func(r *config.Rule) { r.SeverityIn = map[string]pipeline.Severity{"x": pipeline.SeverityMajor} }), []pipeline.File{added, five}, ""},
		"a final rule":                  {style(func(r *config.Rule) { r.Final = true }), []pipeline.File{added, five}, ""},
		"a category of security":        {style(func(r *config.Rule) { r.Category = "secrets" }), []pipeline.File{added, five}, ""},
		"correctness":                   {style(func(r *config.Rule) { r.Category = "correctness" }), []pipeline.File{added, five}, ""},
	} {
		e, err := rules.Compile([]config.Rule{tt.rule})
		if err != nil {
			t.Fatal(err)
		}
		scan := e.Scan(&pipeline.PRFacts{Files: tt.files}, classification).Ignoring(func(path string) bool { return path == "src/ignored.go" })
		answer, err := scan.Agent("agent").Review(t.Context(), everything("agent"))
		if err != nil {
			t.Fatal(err)
		}
		found := answer.Output.Findings
		if len(found) == 0 {
			t.Errorf("%s: nothing is found", name)
		}
		for _, f := range found {
			severity, note := tt.rule.Severity, ""
			if tt.want != "" {
				severity, note = pipeline.SeverityInfo, " The base has this in "+tt.want+" places of the same directory, as far as the diff shows it, so this is only for information."
			}
			if f.Severity != severity || f.Message != note || strings.Contains(f.Title, "places") {
				t.Errorf("%s: %s finding %q, want %s and %q", name, f.Severity, f.Message, severity, note)
			}
		}
	}
}
