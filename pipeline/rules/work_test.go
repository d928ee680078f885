package rules

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// The code of a statement is separated from its strings once, for all its matches. The test
// measures the memory that the copies take.
func TestWorkOfExcuses(t *testing.T) {
	r, err := compileRule(&config.Rule{ID: "rule", Severity: pipeline.SeverityMajor, Match: &config.Match{Pattern: `\.find\(`, NotPattern: `\bwhere:`}})
	if err != nil {
		t.Fatal(err)
	}
	took := func(matches int) uint64 {
		text := "x = {a, where: b, " + strings.Repeat("a.find(req.body),", matches) + strings.Repeat(`\'`, 64<<9)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		excused := r.excused(text, "JavaScript")
		runtime.ReadMemStats(&after)
		if !excused {
			t.Errorf("%d matches are not excused", matches)
		}
		return after.TotalAlloc - before.TotalAlloc
	}
	took(1) // the first run allocates what later runs reuse
	if one, many := took(1), took(40); many > 2*one {
		t.Errorf("one match takes %d KB of memory, and 40 take %d KB", one>>10, many>>10)
	}
}

// Each match has its own string, so the statements differ, and only a limited number is read. A
// text with more matches is a finding.
func TestExcusesAreBounded(t *testing.T) {
	r, err := compileRule(&config.Rule{ID: "rule", Severity: pipeline.SeverityMajor, Match: &config.Match{Pattern: `\.find\([^)]*\)`, NotPattern: `\bwhere:`}})
	if err != nil {
		t.Fatal(err)
	}
	took := func(matches int, excused bool) uint64 {
		text := "x = {a, where: b, " + strings.Repeat(`a.find("b" + req.body),`, matches)
		text += strings.Repeat("a", maxLine-len(text))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if got := r.excused(text, "JavaScript"); got != excused {
			t.Errorf("%d matches are excused: %t", matches, got)
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	took(2, true) // the first run allocates what later runs reuse
	if few, many := took(2, true), took(maxExcused, false); many > 4*few {
		t.Errorf("two matches take %d KB of memory, and %d take %d KB", few>>10, maxExcused, many>>10)
	}
}

// Reading the other forms and the statement of a line takes four times as long if the line is four
// times as long, and not sixteen times. The limit is far above what a line should take, so the
// speed of the machine does not matter. Package comments counts its own reads.
func TestHostileLines(t *testing.T) {
	const most, slack = 10, 3 * time.Second
	safe, err := compileRule(&config.Rule{ID: "rule", Severity: pipeline.SeverityMajor, Match: &config.Match{
		Pattern: "^b", Source: "x", SafeCalls: []string{"b", "[]", ".c"}, SafeWithin: []string{".c"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, piece := range sample.Of(t, 24, []string{`\'`, `\"`, "\\`", "'", `'''`, `""`, `' '`, `'"`, `' "' '`, "(/[", "`${", "/* ", "*/", "/**", "((", "( ", "a.concat(", "[ '", ". ", "f''", `\u`, "getattr(", "![", `" `, `"+`, `"f`, `"a" f`, "<a ", "(a", `("a"`, `"a":1,`, "a as b ", "(a as ", "(0,a)(", "`a", "(`a`", "<a>", "!(", "&a", `\s\`, "a:", `{"a":(`, `require("a").`, "a <b", "(a,b).", `**{"a":`, `**{`, `a"b"c`, "$X-k", "\f", "a$()b", `(a, "b`, "b(", "a[x]", ".c()", "b(x)", "(b(x) ", "b(x / ", "x(b<", "new b (", "b(x).a", "`${b(x)}"}) {
		size := sample.Size(128<<10, maxLine)
		if testing.Short() { // with the race detector, more text shows nothing new
			size = 16 << 10
		}
		if piece == "/* " && !testing.Short() { // looking for the end of a comment is quick, even if it is done too often
			size = maxLine
		}
		for what, read := range map[string]func(text string){
			"unusual":     func(text string) { unusual(text) },
			"simplified":  func(text string) { simplified(text) },
			"simplified2": func(text string) { simplified(text + "*/") },
			"safe":        func(text string) { safe.safe("b"+text, "JavaScript") },
			"pieced":      func(text string) { pieced(text) },
			"forms":       func(text string) { forms("\r"+text, withKeys|withWords|withUnpacking) },
			"statements": func(text string) {
				h := &pipeline.Hunk{Lines: []pipeline.Line{{Op: pipeline.LineAdded, Text: "foo("}, {Op: pipeline.LineAdded, Text: text + "*/"}, {Op: pipeline.LineAdded, Text: ")"}}}
				var m scratch
				m.setShapes(h)
				statements("JavaScript", h, m.shapes)
			},
		} {
			took := func(size int) time.Duration {
				text := strings.Repeat(piece, size/len(piece))
				start := time.Now()
				read(text)
				return time.Since(start)
			}
			if quarter, whole := took(size/4), took(size); whole > most*quarter+slack {
				t.Errorf("%s: %q repeated takes %v for %d KB, but only %v for a quarter of it", what, piece, whole, size>>10, quarter)
			}
		}
	}
}

// Reading four times as many lines as rows takes four times the time and memory.
func TestHostileRows(t *testing.T) {
	const most, slack = 10, 3 * time.Second
	for _, c := range sample.Of(t, 18, []struct {
		language string
		pieces   []string
	}{
		{"YAML", []string{"run: |\n", "    ${{ a\n", "    a: ${{\n"}},
		{"YAML", []string{"a:\n", " - b\n", "\n", "   c:\n"}},
		{"YAML", []string{"a: >\n", "  b\n"}},
		{"YAML", []string{"- b\n"}},
		{"YAML", []string{"- - "}},
		{"YAML", []string{"a: \"\n"}},
		{"YAML", []string{"a: \"b\\\n", "  " + strings.Repeat("b", 5000) + "\n"}},
		{"YAML", []string{"a:\n"}},
		{"YAML", []string{"#\n", "${{ '\n"}},
		{"YAML", []string{"{ a: \"\n"}},
		{"YAML", []string{"- name: a\n", "  value: b\n"}},
		{"YAML", []string{"    a b\n", "    c: ${{ d }}\n"}},
		{"YAML", []string{"    c: ${{ a }},\n", "     b: ${{ d }}\n"}},
		{"YAML", []string{"a: &b c ${{ d }}\n", "run: *b\n"}},
		{"YAML", []string{"${{ (", "a[", "b("}},
		{"YAML", []string{"${{ a || toJSON(b) }}"}},
		{"YAML", []string{"${{ a", ".b", "}}\n"}},
		{"YAML", []string{"${{ 'a''", "b' }}"}},
		{"YAML", []string{"- [ \"b\n", "${{\n"}},
		{"YAML", []string{"{ run: ${{ a\n", "}}, b: [\n"}},
		{"YAML", []string{"- { a:\n", "b }\n"}},
		{"YAML", []string{"a:\r"}},
		{"YAML", []string{"${{\r"}},
		{"YAML", []string{"run: \"\\\"\n"}},
		{"YAML", []string{": \"\n", ": 'a\n"}},
		{"YAML", []string{"[\n", "${{ a\n"}},
		{"YAML", []string{"\u2028", "${{ a }}"}},
		{"XML", []string{"<a>\n"}},
		{"XML", []string{"<a>\n", "</b>\n"}},
		{"XML", []string{"<a>b</a>"}},
		{"XML", []string{"<a><b>c</b>\n"}},
		{"XML", []string{"<!-- "}},
		{"XML", []string{"<a \"\n"}},
		{"XML", []string{"<![CDATA[ <"}},
		{"INI", []string{"a =\n", "  b\n"}},
	}) {
		took := func(size int) time.Duration {
			var text strings.Builder
			n := size / len(c.pieces)
			for _, piece := range c.pieces {
				text.WriteString(strings.Repeat(piece, n/len(piece)+1))
			}
			text.WriteString("- a: b\n")
			h := &pipeline.Hunk{}
			for line := range strings.SplitSeq(text.String(), "\n") {
				h.Lines = append(h.Lines, pipeline.Line{Op: pipeline.LineAdded, Text: line})
			}
			start := time.Now()
			room := 0
			for _, s := range rows(c.language, h) {
				room += len(s.text) + len(s.was)
			}
			if room > 20*text.Len() {
				t.Errorf("%s: the rows of %q repeated take %d bytes, for a text of %d", c.language, c.pieces, room, text.Len())
			}
			return time.Since(start)
		}
		size := sample.Size(128<<10, maxLine)
		if quarter, whole := took(size/4), took(size); whole > most*quarter+slack {
			t.Errorf("%s: %q repeated takes %v for %d KB, but only %v for a quarter of it", c.language, c.pieces, whole, size>>10, quarter)
		}
	}
}

// Reading an expression copies little more than its text, for any number of contexts that the
// expression may reach and of names that it takes from them. The test measures the memory that the
// copies take.
func TestWorkOfExpressions(t *testing.T) {
	for _, text := range []string{
		"${{ (" + strings.Repeat("a||", 1200) + "a)" + strings.Repeat(".b", 98) + " }}",
		"${{ (a" + strings.Repeat("||a.b", 1200) + ")" + strings.Repeat(".b", 98) + " }}",
		"${{ (a||b||c||d||e||f||g||h||i||j||k||l||m||n||o||p||q||r||s||t)" + strings.Repeat(".b", 98) + " }}",
		"${{ (a||b||c||d||e||f||g||h||i||j||k||l||m||n||o||p||q||r||s||t)." + strings.Repeat("b", 190) + " }}",
		"${{ " + strings.Repeat("github.a + ", 1200) + "}}",
		"${{ f(" + strings.Repeat("a,b,", 600) + "a)" + strings.Repeat(".b", 98) + " }}",
	} {
		text = strings.Repeat(text, 128<<10/len(text))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		forms := plainForms(text)
		runtime.ReadMemStats(&after)
		if took, most := after.TotalAlloc-before.TotalAlloc, uint64(200*len(text)); took > most {
			t.Errorf("%.60s takes %d KB of memory, for a text of %d KB", text, took>>10, len(text)>>10)
		}
		for _, form := range forms {
			if len(form) > 3*len(text) {
				t.Errorf("the plain form of %.60s has %d KB, for a text of %d KB", text, len(form)>>10, len(text)>>10)
			}
		}
	}
}

// If the contexts are too many to list, the form counts as untrusted.
func TestManyContexts(t *testing.T) {
	var many strings.Builder
	for i := range 30 {
		many.WriteString("a.b" + strings.Repeat("c", i) + " || ")
	}
	for text, want := range map[string]string{
		"${{ " + strings.Repeat("a || ", 30) + "github.event.issue.title }}": "${{ a }}${{ github.event.issue.title }}",
		"${{ " + many.String() + "github.event.issue.title }}":               "${{ github.* }}",
		"${{ fromJSON(toJSON(" + many.String() + "github.event)).title }}":   "${{ github.* }}",
	} {
		if got := plainly(text); got != want {
			t.Errorf("the plain form of %s is %s, want %s", text, got, want)
		}
	}
	text := strings.Repeat("${{ (a||b||c||d||e||f||g||h||i||j)."+strings.Repeat("b", 190)+" }}", 50)
	if got := plainly(text); !strings.Contains(got, "${{ github.* }}") || len(got) > 3*len(text) {
		t.Errorf("the plain form of %d bytes has %d", len(text), len(got))
	}
}

// For any lines, a row is within the lines of the hunk. It is reported at a line that the change
// adds, or whose value the change adds.
func FuzzRows(f *testing.F) {
	f.Add("YAML", " a: >-\n+  b\n\n- c: \"d\\\n+  e\"\n+- - !!x &y f\n")
	f.Add("YAML", "+run: |2-\n+  ${{ '}}'\n+  }}\n")
	f.Add("YAML", "+- { run: \"a\n+  ${{ b }}\", c: [d,\n  {e: f}]\n+}\n")
	f.Add("YAML", "+ echo ${{ format('{0}', a[fromJSON('1')].c[0].* || !d && case(e == 1, 'f', toJSON(g))) }}\n")
	f.Add("YAML", "   a b\n+  c: ${{ d }}\n+  \"e\": f,\n+A: &g ${{ h }}\n run: *g\n- name: i\n+  value: j\n")
	f.Add("YAML", "+- \"r\\x75n\": 'a''\n+ ${{ b\r}}'\n+? |\n+  c\n+: \"\\\"${{ d\u2028}}\n"+strings.Repeat("[", 21)+"${{ e }}\n")
	f.Add("XML", " <a>\n+<b>c</b><!-- d\n-</a>\n+</e></><![CDATA[f")
	f.Add("INI", "+a =\n  b\n+# c\n")
	f.Fuzz(func(t *testing.T, language, text string) {
		h := &pipeline.Hunk{}
		for line := range strings.SplitSeq(text, "\n") {
			op := pipeline.LineContext
			if line != "" && strings.IndexByte("+-", line[0]) >= 0 {
				op, line = pipeline.LineOp(line[:1]), line[1:]
			}
			h.Lines = append(h.Lines, pipeline.Line{Op: op, Text: line})
		}
		for _, s := range rows(language, h) {
			if s.start < 0 || s.start > s.first || s.first > s.last || s.last >= len(h.Lines) {
				t.Fatalf("the row %q has the lines %d to %d and is reported at line %d of %d", s.text, s.start, s.last, s.first, len(h.Lines))
			}
			if h.Lines[s.first].Op != pipeline.LineAdded {
				t.Fatalf("the row %q is reported at a line that the change does not add", s.text)
			}
		}
	})
}

// However many rules on style match in a directory, and however many lines it has, the lines of the
// base are read a limited number of times. What is not read is not counted.
func TestWorkOfHouseStyle(t *testing.T) {
	const rules, files, lines = 40, 200, 50
	var cfg []config.Rule
	for i := range rules {
		cfg = append(cfg, config.Rule{ID: "rule" + string(rune('a'+i)), Enabled: true, Agent: "agent", Severity: pipeline.SeverityWarning, Style: true, Match: &config.Match{Literal: "bad"}})
	}
	e, err := Compile(cfg)
	if err != nil {
		t.Fatal(err)
	}
	facts := &pipeline.PRFacts{Files: []pipeline.File{{Path: "a.go", Language: "Go", Status: pipeline.FileAdded, Hunks: pipeline.List[pipeline.Hunk]{{NewStart: 1, NewLines: 1, Lines: pipeline.List[pipeline.Line]{{Op: pipeline.LineAdded, New: 1, Text: "bad"}}}}}}}
	for i := range files {
		h := pipeline.Hunk{OldStart: 1, NewStart: 1, OldLines: lines, NewLines: lines}
		for n := range lines {
			h.Lines = append(h.Lines, pipeline.Line{Op: pipeline.LineContext, Old: n + 1, New: n + 1, Text: "bad"})
		}
		facts.Files = append(facts.Files, pipeline.File{Path: "b" + string(rune('0'+i)) + ".go", Language: "Go", Status: pipeline.FileModified, Hunks: pipeline.List[pipeline.Hunk]{h}})
	}
	matches, err := e.Scan(facts, &pipeline.Classification{}).results(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	for i := range matches {
		read += matches[i].before
	}
	if len(matches) != rules || read > maxStyleReads || read < maxStyleReads/2 {
		t.Errorf("%d matches, for which %d places were counted, want %d and nearly %d", len(matches), read, rules, maxStyleReads)
	}
}
