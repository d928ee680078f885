package rules_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// The engine finds exactly what the naive engine finds, in the same order.
func TestSameAsNaive(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		cfg := rapid.SliceOfN(rapid.Custom(genRule), 1, 8).Draw(t, "rules")
		for i := range cfg {
			cfg[i].ID = fmt.Sprintf("rule-%d", i)
		}
		facts := rapid.Custom(genFacts).Draw(t, "facts")
		want := newNaive(t, cfg).scan(&facts, classification)
		got := results(findings(t, cfg, &facts, "agent"))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("findings (-naive +engine):\n%s", diff)
		}
	})
}

func sampled(values ...string) *rapid.Generator[string] { return rapid.SampledFrom(values) }

var genWhen = sampled(`facts.body == ""`, `facts.files.exists(f, f.test)`,
	`facts.files[1].path == "src/b.go"`, `classification.risk.level == "medium"`)

func genRule(t *rapid.T) config.Rule {
	if rapid.IntRange(0, 9).Draw(t, "whole") == 0 {
		return config.Rule{Enabled: true, Agent: "agent", When: genWhen.Draw(t, "when")}
	}
	m := &config.Match{
		On: sampled("", config.OnAdded, config.OnAdded, config.OnRemoved, config.OnFile, config.OnPath,
			config.OnTitle, config.OnBody, config.OnCommitMessage).Draw(t, "on"),
		Paths:        rapid.SliceOfN(sampled("**", "src/**", "**/*.go", "a.go", "**/{a,b}.go"), 0, 2).Draw(t, "paths"),
		ExcludePaths: rapid.SliceOfN(sampled("docs/**", "**/a.*", "**/*.md"), 0, 1).Draw(t, "exclude"),
		Languages:    rapid.SliceOfN(sampled("Go", "Markdown", ""), 0, 1).Draw(t, "languages"),
		Comments:     rapid.SampledFrom([]*bool{nil, nil, new(bool)}).Draw(t, "comments"),
		NotPattern:   sampled("", "", "nolint", `^\s*//`, "[s]$").Draw(t, "not"),
		MaxPerFile:   rapid.IntRange(0, 2).Draw(t, "max"),
		Net:          rapid.IntRange(0, 3).Draw(t, "net") == 0,
		Tests:        rapid.SampledFrom([]*bool{nil, nil, new(bool)}).Draw(t, "tests"),
	}
	if rapid.Bool().Draw(t, "literal") {
		m.Literal = sampled("ab", "a.b", "(", "key", "\u017f", "é").Draw(t, "literal")
	} else {
		m.Pattern = rapid.OneOf(rapid.Custom(genPattern), sampled(
			`\s+$`, `[ \t]+$`, ` $`, `.{4,}`, `^.{3,}$`, `(?i)k`, `(?i)key`, `(?i)s3`, "^$", "", `\bkey\b`, `TODO|FIXME`, `key\s*[:=]\s*["']`, `[^\x00-\x7f]`,
		)).Filter(func(s string) bool { return s != "" }).Draw(t, "pattern")
	}
	when := ""
	if rapid.IntRange(0, 3).Draw(t, "conditional") == 0 {
		when = genWhen.Draw(t, "when")
	}
	linters := rapid.SampledFrom([]map[string][]string{nil, {"gosec": {"G1"}}, {"eslint": {"no-key"}}, {"eslint": {"no-ab"}, "gosec": {"G1"}}, {"sonarqube": {"S1"}}}).Draw(t, "linters")
	return config.Rule{When: when, Linters: linters, Style: rapid.Bool().Draw(t, "style"), Enabled: rapid.IntRange(0, 9).Draw(t, "enabled") > 0, Agent: "agent", Severity: rapid.SampledFrom(pipeline.Severities()).Draw(t, "severity"), Match: m}
}

func genPattern(t *rapid.T) string {
	return rapid.Custom(anyPattern).Filter(func(p string) bool {
		_, err := regexp.Compile(p)
		return err == nil
	}).Draw(t, "compiling pattern")
}

func anyPattern(t *rapid.T) string {
	parts := rapid.SliceOfN(sampled("a", "ab", "K", "s", "é", `\.`, ".", "[ks]", "[a-c]", "[^a]", `\b`, "^", "$", "(?i:ask)", "\u212a", "[\u017fa]", "(a|b)", "(ab|k)?",
		"(?:s|sa)*", "x{2}", "(?:ab){1,3}", "a+", `\s`, "key"), 1, 5).Draw(t, "parts")
	return sampled("", "(?i)").Draw(t, "flags") + strings.Join(parts, sampled("", "", "|").Draw(t, "separator"))
}

var genLine = rapid.OneOf(
	sampled("", "#!/usr/bin/lua", "#!/usr/bin/lua", "key = \"ab\"", "// nolint: key", "askkey\r", "a b \t", "\x00a\x00", "ab\xff\xfe", "\u212aEY", "\u017f3 key", "é", strings.Repeat("ab ", 3000), "x"+strings.Repeat("é", 5000), "TODO x", "key // reviewgate:ignore rule-0 why", "// reviewgate:ignore rule-1 why"),
	rapid.SampledFrom(slices.Sorted(maps.Keys(linterComments))),
	sampled("key:", "key: ab", "key: |", "  ab", "  - ab", "run:", "  ${{ key", "}}", "<ab>", "<key>s</key>", "</ab>", "<!-- ab -->"),
	rapid.Map(rapid.SliceOfN(sampled("a", "b", "k", "K", "s", "S", "\u212a", "\u017f", "é", ".", "x", "\xff", " ", "ab", "key", "\t", "\r", "(", ")", "[\"a\"]", `\u0061`, "?.", "//", "+"), 0, 10),
		func(p []string) string { return strings.Join(p, "") }),
)

func genText(t *rapid.T) string {
	return strings.Join(rapid.SliceOfN(genLine, 0, 3).Draw(t, "lines"), "\n")
}

func genFacts(t *rapid.T) pipeline.PRFacts {
	text := rapid.Custom(genText)
	f := pipeline.PRFacts{Title: genLine.Draw(t, "title"), Body: text.Draw(t, "body")}
	for i := range rapid.IntRange(0, 2).Draw(t, "commits") {
		f.Commits = append(f.Commits, pipeline.Commit{SHA: fmt.Sprintf("%d123456789", i), Message: text.Draw(t, "message")})
	}
	for _, path := range []string{"a.go", "docs/key.md", "src/b.go", "src/key\n.go", "tool"} {
		if rapid.Bool().Draw(t, path) {
			f.Files = append(f.Files, genFile(t, path))
		}
	}
	return f
}

func genFile(t *rapid.T, path string) pipeline.File {
	rare := func(what string) bool { return rapid.IntRange(0, 9).Draw(t, what) == 0 }
	f := pipeline.File{
		Path: path, Language: sampled("Go", "Go", "JavaScript", "Markdown", "", "YAML", "XML", "INI").Draw(t, "language"),
		Status: rapid.SampledFrom([]pipeline.FileStatus{pipeline.FileAdded, pipeline.FileModified, pipeline.FileRemoved, pipeline.FileRenamed}).Draw(t, "status"),
		Test:   rare("test"), Generated: rare("generated"), GeneratedByPath: rare("generated_by_path"), Vendored: rare("vendored"),
		ByBase: rare("by_base"),
	}
	if f.Status == pipeline.FileRenamed {
		f.PreviousPath = sampled("", "src/old.go").Draw(t, "previous path")
	}
	if rapid.IntRange(0, 3).Draw(t, "old lines") == 0 {
		f.Hunks = append(f.Hunks, oldLines(genLine.Draw(t, "old line"), rapid.IntRange(3, 7).Draw(t, "times")))
	}
	at := 100
	for range rapid.IntRange(0, 2).Draw(t, "hunks") {
		h := pipeline.Hunk{OldStart: at + 1, NewStart: at + 1}
		for range rapid.IntRange(1, 6).Draw(t, "length") {
			op := rapid.SampledFrom([]pipeline.LineOp{pipeline.LineAdded, pipeline.LineAdded, pipeline.LineRemoved, pipeline.LineContext}).Draw(t, "op")
			l := pipeline.Line{Op: op, Text: genLine.Draw(t, "line")}
			if op != pipeline.LineRemoved {
				l.New = h.NewStart + h.NewLines
				h.NewLines++
			}
			if op != pipeline.LineAdded {
				l.Old = h.OldStart + h.OldLines
				h.OldLines++
			}
			h.Lines = append(h.Lines, l)
		}
		at += 100
		f.Hunks = append(f.Hunks, h)
	}
	return f
}

// oldLines is a hunk that has a line several times, unchanged.
func oldLines(text string, n int) pipeline.Hunk {
	h := pipeline.Hunk{OldStart: 1, NewStart: 1, OldLines: n, NewLines: n}
	for i := range n {
		h.Lines = append(h.Lines, pipeline.Line{Op: pipeline.LineContext, Old: i + 1, New: i + 1, Text: text})
	}
	return h
}
