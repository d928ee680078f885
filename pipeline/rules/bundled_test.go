package rules_test

import (
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
	bundle := func(path, previous string, lines ...string) pipeline.File {
		return with(file(path, lines...), func(f *pipeline.File) {
			f.PreviousPath, f.Language, f.Bundle, f.GeneratedByPath = previous, "JavaScript", true, true
		})
	}
	const old, renamed, other = "-;eF.run=a(b.hash);", "+;qq.run=c(d.hash);", "+;qq.run=c(location.hash);"
	gone := with(bundle(dir+"vue-1.js", "", old), func(f *pipeline.File) { f.Status, f.Bundle = pipeline.FileRemoved, false })
	many := "+" + strings.Repeat("x.run=a(b.hash);", 1001)
	for name, tt := range map[string]struct {
		files []pipeline.File
		final bool
		want  int
	}{
		"built again":                         {[]pipeline.File{bundle(dir+"app-2.js", dir+"app-1.js", old, renamed)}, false, 0},
		"built again in place":                {[]pipeline.File{bundle(dir+"app.js", "", old, renamed)}, false, 0},
		"moved to another bundle":             {[]pipeline.File{bundle(dir+"app-2.js", "", renamed), gone}, false, 0},
		"more in place of it":                 {[]pipeline.File{bundle(dir+"app-2.js", dir+"app-1.js", old, other)}, false, 1},
		"more beside it":                      {[]pipeline.File{bundle(dir+"app-2.js", dir+"app-1.js", old, renamed+other[1:])}, false, 1},
		"once more":                           {[]pipeline.File{bundle(dir+"app-2.js", dir+"app-1.js", old, renamed, renamed)}, false, 2},
		"within it":                           {[]pipeline.File{bundle(dir+"app-2.js", dir+"app-1.js", old, "+;qq.run=c(d.run=e(),f.hash);")}, false, 1},
		"beside other code":                   {[]pipeline.File{bundle(dir+"app-2.js", dir+"app-1.js", "-one();"+old[1:]+"two()", "+three();"+renamed[1:]+"four()")}, false, 0},
		"in other lines":                      {[]pipeline.File{bundle(dir+"app-2.js", dir+"app-1.js", "-;eF.run=", "-a(b.hash);", "+;qq.run=", "+c(d.hash);")}, false, 0},
		"far from its end":                    {[]pipeline.File{bundle(dir+"app-2.js", dir+"app-1.js", old, "+;qq.run=c("+strings.Repeat("d,", 10_000)+")")}, false, 0},
		"not far from its end":                {[]pipeline.File{bundle(dir+"app-2.js", dir+"app-1.js", old, "+;qq.run=c("+strings.Repeat("d,", 900)+")")}, false, 1},
		"across chunks":                       {[]pipeline.File{bundle(dir+"app-2.js", dir+"app-1.js", old, "+"+strings.Repeat("d,", 2046)+other[1:])}, false, 1},
		"with a letter that folds to another": {[]pipeline.File{bundle(dir+"app-2.js", dir+"app-1.js", old, renamed+"'\u212a'")}, false, 0},
		"more beside such a letter":           {[]pipeline.File{bundle(dir+"app-2.js", dir+"app-1.js", old, renamed+"'\u212a'", other)}, false, 1},
		"from another folder":                 {[]pipeline.File{bundle("dist/app-2.js", "", renamed), gone}, false, 1},
		"too many to compare":                 {[]pipeline.File{bundle(dir+"app-2.js", dir+"app-1.js", "-"+many[1:], many)}, false, 1},
		"in a file that is not a bundle":      {[]pipeline.File{with(bundle(dir+"app.js", "", old, renamed), func(f *pipeline.File) { f.Bundle = false })}, false, 1},
		"of a rule that the base insists on":  {[]pipeline.File{bundle(dir+"app.js", "", old, renamed)}, true, 1},
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
