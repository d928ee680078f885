package normalize

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

func TestParsePatch(t *testing.T) {
	ctx := func(o, n int, text string) pipeline.Line {
		return pipeline.Line{Op: pipeline.LineContext, Old: o, New: n, Text: text}
	}
	add := func(n int, text string) pipeline.Line {
		return pipeline.Line{Op: pipeline.LineAdded, New: n, Text: text}
	}
	del := func(o int, text string) pipeline.Line {
		return pipeline.Line{Op: pipeline.LineRemoved, Old: o, Text: text}
	}
	hunk := func(os, ol, ns, nl int, section string, lines ...pipeline.Line) pipeline.Hunk {
		return pipeline.Hunk{OldStart: os, OldLines: ol, NewStart: ns, NewLines: nl, Section: section, Lines: lines}
	}
	tests := []struct {
		name, patch string
		want        pipeline.List[pipeline.Hunk]
	}{
		{"empty", "", nil},
		{"change", "@@ -1,2 +1,2 @@ func main() {\n a\n-b\n+c", pipeline.List[pipeline.Hunk]{hunk(1, 2, 1, 2, "func main() {", ctx(1, 1, "a"), del(2, "b"), add(2, "c"))}},
		{"omitted counts", "@@ -1 +1 @@\n-a\n+b\n", pipeline.List[pipeline.Hunk]{hunk(1, 1, 1, 1, "", del(1, "a"), add(1, "b"))}},
		{"new file", "@@ -0,0 +1,2 @@\n+a\n+b", pipeline.List[pipeline.Hunk]{hunk(0, 0, 1, 2, "", add(1, "a"), add(2, "b"))}},
		{"no newline at the end", "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file", pipeline.List[pipeline.Hunk]{hunk(1, 1, 1, 1, "", del(1, "a"), add(1, "b"))}},
		{"carriage returns", "@@ -1,2 +1,2 @@\r\n a\r\n-b\r\n+c\rd\r\n", pipeline.List[pipeline.Hunk]{{OldStart: 1, OldLines: 2, NewStart: 1, NewLines: 2, Returns: true, Lines: pipeline.List[pipeline.Line]{ctx(1, 1, "a"), del(2, "b"), add(2, "c\rd")}}}},
		{"stripped context", "@@ -1,2 +1,3 @@\n\n+x\n\n", pipeline.List[pipeline.Hunk]{hunk(1, 2, 1, 3, "", ctx(1, 1, ""), add(2, "x"), ctx(2, 3, ""))}},
		{"text that looks like a header", "@@ -1 +1,2 @@\n @@ -1 +1 @@\n+@@", pipeline.List[pipeline.Hunk]{hunk(1, 1, 1, 2, "", ctx(1, 1, "@@ -1 +1 @@"), add(2, "@@"))}},
		{"two hunks", "@@ -1 +0,0 @@\n-a\n@@ -9,0 +9 @@ f\n+b", pipeline.List[pipeline.Hunk]{hunk(1, 1, 0, 0, "", del(1, "a")), hunk(9, 0, 9, 1, "f", add(9, "b"))}},
	}
	for _, tt := range tests {
		got, err := parsePatch(tt.patch)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		} else if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestParsePatchRefuses(t *testing.T) {
	tests := map[string]string{
		"no header":             "+a",
		"file header":           "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b",
		"combined diff":         "@@@ -1 -1 +1 @@@\n  a",
		"signs in numbers":      "@@ -+1 +1 @@\n a",
		"huge number":           "@@ -1 +99999999999 @@\n a",
		"huge count":            "@@ -1,2147483647 +1 @@\n a",
		"line 0":                "@@ -0 +1 @@\n-a\n+b",
		"an empty hunk":         "@@ -1,0 +1,0 @@",
		"cut short":             "@@ -1,3 +1,3 @@\n a\n-b\n+c",
		"only a header":         "@@ -1 +1 @@",
		"too many lines":        "@@ -1 +1 @@\n-a\n+b\n+c",
		"more removed":          "@@ -1 +1,3 @@\n-a\n-b\n+c",
		"other prefix":          "@@ -1 +1 @@\n-a\nxb",
		"marker without a line": "@@ -1 +1 @@\n\\ No newline at end of file\n-a\n+b",
		"overlap":               "@@ -1,2 +1,2 @@\n a\n b\n@@ -2 +3 @@\n-b\n+c",
		"out of order":          "@@ -9 +9 @@\n-a\n+b\n@@ -1 +1 @@\n-a\n+b",
	}
	for name, patch := range tests {
		if hunks, err := parsePatch(patch); err == nil {
			t.Errorf("%s: parsed as %+v, want an error", name, hunks)
		}
	}
}

// render writes hunks as git does.
func render(hunks []pipeline.Hunk) string {
	var b strings.Builder
	for _, h := range hunks {
		fmt.Fprintf(&b, "@@ -%d,%d +%d,%d @@", h.OldStart, h.OldLines, h.NewStart, h.NewLines)
		if h.Section != "" {
			b.WriteString(" " + h.Section)
		}
		for _, l := range h.Lines {
			b.WriteString("\n" + string(l.Op) + l.Text)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func TestParsePatchReadsWhatGitWrites(t *testing.T) {
	text := rapid.StringOfN(rapid.RuneFrom([]rune("ab @+-\\é")), 0, 6, -1)
	sample.Check(t, func(t *rapid.T) {
		var want pipeline.List[pipeline.Hunk]
		oldLine, newLine := 1, 1
		for range rapid.IntRange(0, 4).Draw(t, "hunks") {
			gap := rapid.IntRange(0, 3).Draw(t, "gap")
			oldLine, newLine = oldLine+gap, newLine+gap
			h := pipeline.Hunk{OldStart: oldLine, NewStart: newLine, Section: strings.Trim(text.Draw(t, "section"), " ")}
			for _, op := range rapid.SliceOfN(rapid.SampledFrom([]pipeline.LineOp{" ", "+", "-"}), 1, 6).Draw(t, "ops") {
				l := pipeline.Line{Op: op, Text: text.Draw(t, "text")}
				if op != pipeline.LineAdded {
					l.Old = oldLine
					oldLine++
					h.OldLines++
				}
				if op != pipeline.LineRemoved {
					l.New = newLine
					newLine++
					h.NewLines++
				}
				h.Lines = append(h.Lines, l)
			}
			if h.OldLines == 0 {
				h.OldStart--
			}
			if h.NewLines == 0 {
				h.NewStart--
			}
			want = append(want, h)
		}
		got, err := parsePatch(render(want))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("-written +read:\n%s", diff)
		}
	})
}

func FuzzParsePatch(f *testing.F) {
	f.Add("@@ -1,2 +1,2 @@ f\n a\n-b\n+c\n\\ No newline at end of file")
	f.Add("@@ -0,0 +1,2147483646 @@\n+a")
	f.Add("@@ -1 +1 @@\r\n\n")
	f.Add("@@ -1 +1,2 @@\n-c\r\n+a\r\n+b")
	f.Add("@@ -1 +1,2 @@\n-c\r\n+a\r\r\n+b\r")
	f.Fuzz(func(t *testing.T, patch string) {
		hunks, err := parsePatch(patch)
		if err != nil {
			return
		}
		for _, h := range hunks {
			var o, n int
			for _, l := range h.Lines {
				if l.Old > 0 {
					if l.Old != h.OldStart+o {
						t.Fatalf("old line %d at place %d of %+v", l.Old, o, h)
					}
					o++
				}
				if l.New > 0 {
					if l.New != h.NewStart+n {
						t.Fatalf("new line %d at place %d of %+v", l.New, n, h)
					}
					n++
				}
			}
			if o != h.OldLines || n != h.NewLines {
				t.Fatalf("%d old and %d new lines in %+v", o, n, h)
			}
		}
		// One carriage return is part of the line ending, and further ones are text.
		again, err := parsePatch(strings.ReplaceAll(render(hunks), "\n", "\r\n"))
		if err != nil {
			t.Fatalf("the hunks, written again, can't be read: %v", err)
		}
		if diff := cmp.Diff(hunks, again, cmpopts.IgnoreFields(pipeline.Hunk{}, "Returns")); diff != "" {
			t.Fatalf("the hunks, written again, are read differently:\n%s", diff)
		}
	})
}
