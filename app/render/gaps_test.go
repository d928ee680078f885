package render

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
)

func gapEntry(concern, path string, ops ...pipeline.PatchOperation) pipeline.GapLogEntry {
	return pipeline.GapLogEntry{Concern: concern, Path: path, Line: 1, Agent: "finance-sme",
		Suggestion: pipeline.ConfigPatch{File: config.FileDomains, Operations: ops}}
}

func appendGlob(path string) pipeline.PatchOperation {
	return pipeline.PatchOperation{Op: "add", Path: "/items/-", Value: map[string]any{"globs": []string{path}}}
}

// Gaps of one concern are shown as one, with one patch for all of them, if their patches
// can be joined.
func TestGapsAreGroupedByConcern(t *testing.T) {
	for name, tt := range map[string]struct {
		gaps   []pipeline.GapLogEntry
		groups int
		ops    int // operations of the first patch
	}{
		"three places":    {[]pipeline.GapLogEntry{gapEntry("money", "a", appendGlob("a")), gapEntry("money", "b", appendGlob("b")), gapEntry("money", "c", appendGlob("c"))}, 1, 3},
		"the same patch":  {[]pipeline.GapLogEntry{gapEntry("money", "a", appendGlob("a")), gapEntry("money", "a", appendGlob("a"))}, 1, 1},
		"another concern": {[]pipeline.GapLogEntry{gapEntry("money", "a", appendGlob("a")), gapEntry("auth", "b", appendGlob("b"))}, 2, 1},
		"a patch that replaces": {[]pipeline.GapLogEntry{
			gapEntry("money", "a", appendGlob("a")), gapEntry("money", "b", pipeline.PatchOperation{Op: "replace", Path: "/items/0", Value: 1}),
		}, 2, 1},
		"a patch that inserts": {[]pipeline.GapLogEntry{
			gapEntry("money", "b", appendGlob("b")), gapEntry("money", "a", pipeline.PatchOperation{Op: "add", Path: "/items/0", Value: 1}),
		}, 2, 1},
		"no patch": {[]pipeline.GapLogEntry{gapEntry("money", "a"), gapEntry("money", "b")}, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			v := cleanView()
			v.Review.Report.GapLog = tt.gaps
			comment, _, _ := strings.Cut(wholeComment(v), machineStart)
			if n := strings.Count(comment, " looks like "); n != tt.groups {
				t.Errorf("%d groups, want %d:\n%s", n, tt.groups, comment)
			}
			var ops []pipeline.PatchOperation
			if patch := cut(comment, "```json\n", "\n```"); patch != "" {
				if err := json.Unmarshal([]byte(patch), &ops); err != nil {
					t.Fatalf("the patch is not JSON: %v\n%s", err, patch)
				}
			}
			if len(ops) != tt.ops {
				t.Errorf("%d operations, want %d", len(ops), tt.ops)
			}
		})
	}
}

// The command is shown only with ids that a shell takes as they are.
func TestCommandOfAGap(t *testing.T) {
	for id, want := range map[string]bool{
		"payments-1f": true, "": false, "a b": false, "a;rm": false, "$(x)": false, "`x`": false, "-a": false, "a,b": false, "a\nb": false,
	} {
		v := cleanView()
		op := appendGlob("a")
		op.Value = map[string]any{"id": id}
		v.Review.Report.GapLog = []pipeline.GapLogEntry{gapEntry("money", "a", op)}
		if comment := wholeComment(v); strings.Contains(comment, "reviewgate config apply") != want {
			t.Errorf("%q: the command is shown: %t, want %t:\n%s", id, !want, want, comment)
		}
	}
}

// The patch for many places is bounded.
func TestPatchOfManyPlaces(t *testing.T) {
	v := cleanView()
	for i := range 500 {
		v.Review.Report.GapLog = append(v.Review.Report.GapLog, gapEntry("money", "a", appendGlob(grouped(i))))
	}
	comment := wholeComment(v)
	if n := strings.Count(comment, `"op"`); n != maxOperations {
		t.Errorf("%d operations, want %d", n, maxOperations)
	}
	for _, want := range []string{"…and 494 more", "To cover the first of them next time"} {
		if !strings.Contains(comment, want) {
			t.Errorf("the comment lacks %q:\n%s", want, comment)
		}
	}
}

func TestDecidedBy(t *testing.T) {
	for _, tt := range []struct {
		condition string
		want      string
	}{
		{"major > 0", "Decided by the gate's condition major > 0 (major is 2)."},
		{"major > 1 && risk_score >= 12.5", "Decided by the gate's condition major > 1 && risk_score >= 12.5 (major is 2, risk_score is 38)."},
		{"major > 0 && major < 9", "(major is 2)."},
		{"min_confidence < 0.9", "(min_confidence is 0.85)."},
		{"unknown > 0", "Decided by the gate's condition unknown > 0."},
		{
			"major > 0 && [1].all(n, true), which can't be evaluated: it takes too many steps",
			"Decided by the gate's condition major > 0 && [1].all(n, true), which can't be evaluated: it takes too many steps (major is 2).",
		},
		{"no condition held", "Decided by the gate: none of its conditions is true."},
		{"", ""},
	} {
		v := cleanView()
		v.Review.Report.Gate = pipeline.Gate{Condition: tt.condition, Metrics: map[string]float64{"major": 2, "risk_score": 38, "min_confidence": 0.85}}
		text := Text(v, TextOptions{Width: 1000})
		if !strings.Contains(text, tt.want) || (tt.want == "") == strings.Contains(text, "Decided by") {
			t.Errorf("%q: the text lacks %q:\n%s", tt.condition, tt.want, text)
		}
	}
	v := incompleteView()
	if text := Text(v, TextOptions{}); strings.Contains(text, "Decided by") {
		t.Errorf("an incomplete review names a condition that decided:\n%s", text)
	}
}

// In a repository whose config is YAML, the entries to append are shown in YAML, whatever the path is.
// Characters that nobody sees stay escaped, in the patch in JSON. Issues keep the patch.
func TestGapsInYAML(t *testing.T) {
	for _, tt := range []struct{ file, glob, want, not string }{
		{"review-domains.yaml", "a b", "add this entry to the list of `review-domains.yaml`:\n```yaml\n- globs: [a b]\n```", "json\n[\n"},
		{"review-domains.yml", "x: [y]", "```yaml\n- globs: [\"x: [y]\"]\n```", "json\n[\n"},
		{"review-domains.yaml", "a\n```\n# b", "````yaml\n- globs: [\"a\\n```\\n# b\"]\n````", "json\n[\n"},
		{"review-domains.yaml", "a\u202eb", "```json\n[\n", "yaml\n-"},
		{"review-domains.json", "a", "this JSON Patch to the list of `review-domains.json`:\n```json\n[\n", "yaml\n-"},
	} {
		g := gapEntry("money", "a", appendGlob(tt.glob))
		g.Suggestion.File = tt.file
		v := cleanView()
		v.Review.Report.GapLog = []pipeline.GapLogEntry{g}
		comment, _, _ := strings.Cut(wholeComment(v), machineStart)
		if !strings.Contains(comment, tt.want) || strings.Contains(comment, tt.not) {
			t.Errorf("%s, %q: want %q in:\n%s", tt.file, tt.glob, tt.want, comment)
		}
		if about := IssuesOf(v).Gap(&g).About; !strings.Contains(about, "save this JSON Patch") || strings.Contains(about, "```yaml") {
			t.Errorf("the issue says:\n%s", about)
		}
	}
}

// The coverage names the file for which gap detection asked an agent to look.
func TestCoverageNamesTheGap(t *testing.T) {
	v := cleanView()
	v.Review.Report.GapLog = []pipeline.GapLogEntry{gapEntry("money", "lib/a.go"), gapEntry("money", "lib/a.go"), gapEntry("tax", "b.go"), {Concern: "x", Path: "y", Agent: "other"}}
	v.Review.Report.GapLog[0].Name = "money arithmetic"
	if text := Text(v, TextOptions{Width: 1000}); !strings.Contains(text, "; gap detection: money arithmetic in lib/a.go and 1 more file).") {
		t.Errorf("the gap's file is missing:\n%s", text)
	}
}
