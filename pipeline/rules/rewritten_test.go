package rules_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/rules"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// A line is rewritten if the change alters another line of its statement, before or after the change.
// Lines that are only indented, other statements and the blocks within a statement don't count.
func TestRewritten(t *testing.T) {
	long := strings.Split(strings.Repeat(" <!-- a -->\n", 60), "\n")[:60]
	for name, tt := range map[string]struct {
		language string
		lines    []string // ~ is a changed line with a twin
		want     string   // by line: x if it is rewritten
	}{
		"nothing changes":                   {"Python", []string{" f(a,", "   b)", " g()"}, "   "},
		"a line is added":                   {"Python", []string{" f(a,", "+  b,", "   c)", " g()"}, "xxx "},
		"a line is removed":                 {"Python", []string{" f(a,", "-  b,", "   c)", " g()"}, "xxx "},
		"the last line is replaced":         {"Python", []string{" f(a,", "-  b)", "+  c)", " g()"}, "xxx "},
		"the first line is replaced":        {"Python", []string{"-f(a,", "+g(a,", "   b)", " g()"}, "xxx "},
		"the end is removed":                {"JavaScript", []string{" f(a)", "-  .b()", " g()"}, "xx "},
		"the beginning is removed":          {"JavaScript", []string{"-a &&", " f(a)", " g()"}, "xx "},
		"the end is added":                  {"JavaScript", []string{" f(a)", "+  .b()", " g()"}, "xx "},
		"the beginning is added":            {"JavaScript", []string{"+a &&", " f(a)", " g()"}, "xx "},
		"a line splits it":                  {"JavaScript", []string{" a = b", "+;g();", "   .c()"}, "xxx"},
		"another statement changes":         {"Python", []string{" f(a,", "   b)", "-g(a)", "+g(b)"}, "    "},
		"the statement before it changes":   {"Python", []string{"-g(a)", "+g(b,", "+  c)", " f(a,", "   b)"}, " xx  "},
		"all lines are indented":            {"Go", []string{"~-f(a,", "~-\tb)", "~+\tf(a,", "~+\t\tb)"}, "    "},
		"one is indented, the next changes": {"Go", []string{"~-f(a,", "-b)", "~+\tf(a,", "+\tc)"}, "xxxx"},
		"a block in it changes":             {"JavaScript", []string{" f(a, () => {", "-  g(1);", "+  g(2);", " }, b)"}, "    "},
		"a statement in a block changes":    {"JavaScript", []string{" f(a, () => {", "   g(1,", "-    2);", "+    3);", " }, b)"}, " xxx "},
		"the end behind a block changes":    {"JavaScript", []string{" f(a, () => {", "   g(1);", "-}, b)", "+}, c)"}, "x xx"},
		"a piece ends before a block":       {"JavaScript", []string{" f(", "-c,", "+a,", " a,", " a,", " a,", " a,", " a,", " a,", " a,", " () => {", "-h();", "+g();", " },", " b)"}, "xxxxxxxxxxx    "},
		"prose":                             {"Markdown", []string{" f(a,", "-  b)", "+  c)"}, "   "},
		"a pair of elements":                {"XML", []string{" <a>", " <b>c</b>", "-<d>e</d>", "+<d>f</d>", " </a>"}, " xxx "},
		"between a pair of elements":        {"XML", []string{" <a>", " <b>c</b>", " <g>", " <h>i</h>", " <j>k</j>", " </g>", "-<d>e</d>", "+<d>f</d>", " </a>"}, " x    xx "},
		"in an element between two others":  {"XML", []string{" <a>", " <b>c</b>", " <g>", "-<h>i</h>", "+<h>j</h>", " <j>k</j>", " </g>", " <d>e</d>", " </a>"}, "   xxx   "},
		"a row of many lines": {"XML", append(append([]string{" <a>", "~-<b>c</b>", "~+  <b>c</b>"}, long...), "-<d>e</d>", "+<d>f</d>", " </a>"),
			" xx" + strings.Repeat(" ", 63)},
	} {
		f := file("a", stripped(tt.lines)...)
		f.Language = tt.language
		h := &f.Hunks[0]
		twins := make([]int, len(h.Lines))
		for i := range h.Lines {
			twins[i] = -1
			if h.Lines[i].Op == pipeline.LineContext {
				twins[i] = i
			}
		}
		var gone, come []int
		for i, l := range tt.lines {
			switch {
			case strings.HasPrefix(l, "~-"):
				gone = append(gone, i)
			case strings.HasPrefix(l, "~+"):
				come = append(come, i)
			}
		}
		for i := range gone {
			twins[gone[i]], twins[come[i]] = come[i], gone[i]
		}
		got := ""
		for _, x := range rules.Rewritten(&f, h, twins) {
			got += map[bool]string{true: "x", false: " "}[x]
		}
		if got != tt.want {
			t.Errorf("%s:\n%q, want\n%q", name, got, tt.want)
		}
	}
}

func stripped(lines []string) (out []string) {
	for _, l := range lines {
		out = append(out, strings.TrimPrefix(l, "~"))
	}
	return out
}

// Reversing a change rewrites the same statements, and a statement that begins to match in an added
// line is rewritten.
func TestRewrittenByEitherSide(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		f := genFile(t, "a")
		for i := range f.Hunks {
			h := &f.Hunks[i]
			back := *h
			back.Lines = slices.Clone(h.Lines)
			var twins []int
			for j := range back.Lines {
				twin := -1
				switch l := &back.Lines[j]; l.Op {
				case pipeline.LineAdded:
					l.Op = pipeline.LineRemoved
				case pipeline.LineRemoved:
					l.Op = pipeline.LineAdded
				default:
					twin = j
				}
				twins = append(twins, twin)
			}
			got := rules.Rewritten(&f, h, twins)
			if diff := cmp.Diff(got, rules.Rewritten(&f, &back, twins)); diff != "" {
				t.Fatalf("%+v: the reverse change differs:\n%s", h.Lines, diff)
			}
			for _, s := range rules.Statements(f.Language, 0, h) {
				if h.Lines[s.First].Op == pipeline.LineAdded && !got[s.First] {
					t.Fatalf("%+v: line %d begins to match in the statement %q, but is not rewritten", h.Lines, s.First, s.Texts[0])
				}
			}
		}
	})
}
