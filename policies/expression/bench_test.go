package expression

import (
	"fmt"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/pipeline"
)

// large is a change of 3,000 files and 100,000 lines, with a description of 64 KB.
func large() Input {
	facts := &pipeline.PRFacts{Title: "Move everything", Body: strings.Repeat("a", 64<<10), Labels: pipeline.List[string]{"big"}}
	for i := range 3000 {
		f := pipeline.File{Path: fmt.Sprintf("services/s%d/src/main/file%d.go", i%40, i), Status: pipeline.FileModified, Additions: 33, Language: "Go"}
		h := pipeline.Hunk{NewStart: 1, NewLines: 33}
		for n := range 33 {
			h.Lines = append(h.Lines, pipeline.Line{Op: pipeline.LineAdded, New: n + 1, Text: "	return fmt.Errorf(\"read the file of the service: %w\", err)"})
		}
		f.Hunks = pipeline.List[pipeline.Hunk]{h}
		facts.Files = append(facts.Files, f)
	}
	return Input{Facts: facts, Classification: &pipeline.Classification{Type: "feature", Scope: pipeline.Scope{Size: pipeline.SizeXL, ChangedLines: 99_000}}}
}

// usual are expressions as people write them.
var usual = map[string]string{
	"one field":     `classification.scope.changed_lines > 600`,
	"files":         `facts.files.exists(f, f.status == "added" && f.language == "SQL")`,
	"globs":         `facts.files.exists(f, glob(f.path, "db/migrate/**")) && !facts.files.exists(f, f.test)`,
	"no changelog":  `"CHANGELOG.md" in facts.root_files && !facts.files.exists(f, f.path == "CHANGELOG.md")`,
	"files matched": `facts.files.filter(f, f.path.matches("(^|/)package\\.json$")).size() > 1`,
	"every line":    `facts.files.exists(f, f.hunks.exists(h, h.lines.exists(l, l.text.contains("secret"))))`,
}

// hostile are expressions that cost as much as the limits allow.
var hostile = map[string]string{
	"files by files":        `facts.files.all(f, facts.files.all(g, f.path != "" && g.path != ""))`,
	"lines of lines":        `facts.files.all(f, f.hunks.all(h, h.lines.all(l, l.text + l.text + l.text + l.text != "")))`,
	"constant loop":         `facts.files.all(f, facts.files.all(g, facts.files.all(h, true)))`,
	"size of a long text":   `facts.files.all(f, facts.files.all(g, facts.body.size() > 0))`,
	"compare long texts":    `facts.files.all(f, facts.files.all(g, facts.body == facts.body))`,
	"compare lists":         `facts.files.all(f, [facts.body, facts.body, facts.body] == [facts.body, facts.body, facts.body])`,
	"search long texts":     `facts.files.all(f, facts.files.all(g, !facts.body.contains("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab")))`,
	"member of a list":      `facts.files.all(f, !("x" in facts.files.map(g, facts.body)))`,
	"double a text":         `[facts.body + facts.body].all(a, [a + a + a + a].all(b, [b + b + b + b].all(c, c + c + c + c + c + c + c + c != "")))`,
	"grow texts in a loop":  `facts.files.map(f, facts.body + f.path).all(x, x + x != "")`,
	"split a long text":     `facts.files.all(f, facts.body.split("").size() > 0)`,
	"case of a long text":   `facts.files.all(f, facts.body.upperAscii().lowerAscii() != "x")`,
	"slow pattern":          `facts.files.all(f, !facts.body.matches("(a|aa|aaa){1,10}[xy]"))`,
	"slow pattern on lines": `facts.files.all(f, f.hunks.all(h, h.lines.all(l, !l.text.matches("([a-z :]*[a-z :]*[a-z :]*){8}[xy]$"))))`,
	"slow glob":             `facts.files.all(f, facts.files.all(g, !glob(f.path, "**/*s*/**/*r*/**/*i*/**/*.{a,b,c,d}{e,f,g,h}{i,j,k,l}")))`,
	"lists of lists":        `facts.files.map(f, facts.files.map(g, [f, g])).size() == 0`,
	"index far":             `facts.files.all(f, facts.files.filter(g, true)[2999].path != "")`,
}

func benchmark(b *testing.B, expressions map[string]string, in Input) {
	for name, text := range expressions {
		b.Run(name, func(b *testing.B) {
			e, err := Compile(text)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				_, err = e.Holds(in)
			}
			if err != nil {
				b.Log("stopped: ", err)
			}
		})
	}
}

func BenchmarkUsual(b *testing.B)   { benchmark(b, usual, large()) }
func BenchmarkHostile(b *testing.B) { benchmark(b, hostile, large()) }

func BenchmarkCompile(b *testing.B) {
	for b.Loop() {
		for _, text := range usual {
			if _, err := Compile(text); err != nil {
				b.Fatal(err)
			}
		}
	}
}
