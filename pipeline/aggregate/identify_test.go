package aggregate

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

func TestFingerprintSurvivesMoves(t *testing.T) {
	id := func(change func(*Input, *pipeline.Finding)) string {
		f := finding("b.go", 1, "Title", pipeline.SeverityMajor)
		in := one(f)
		if change != nil {
			change(&in, &in.Results[0].Output.Findings[0])
		}
		r := Aggregate(in)
		return r.Findings[0].ID
	}
	first := id(nil)
	if len(first) != 16 {
		t.Errorf("fingerprint %q does not have 16 characters", first)
	}
	same := map[string]func(*Input, *pipeline.Finding){
		"lines shift": func(in *Input, f *pipeline.Finding) {
			in.Facts.Files[1] = file("b.go", "new", "new", "one")
			f.StartLine, f.EndLine = 3, 3
		},
		"white space": func(in *Input, _ *pipeline.Finding) { in.Facts.Files[1] = file("b.go", "\t  one ") },
		"rename": func(in *Input, f *pipeline.Finding) {
			in.Facts.Files[1].Path, in.Facts.Files[1].PreviousPath, in.Facts.Files[1].Status = "c.go", "b.go", pipeline.FileRenamed
			f.Path = "c.go"
		},
		"title's punctuation": func(_ *Input, f *pipeline.Finding) { f.Title = "title!" },
		"severity":            func(_ *Input, f *pipeline.Finding) { f.Severity = pipeline.SeverityInfo },
	}
	for name, change := range same {
		if got := id(change); got != first {
			t.Errorf("%s: the fingerprint changed", name)
		}
	}
	other := map[string]func(*Input, *pipeline.Finding){
		"other text":  func(in *Input, _ *pipeline.Finding) { in.Facts.Files[1] = file("b.go", "else") },
		"other title": func(_ *Input, f *pipeline.Finding) { f.Title = "other" },
		"other file":  func(_ *Input, f *pipeline.Finding) { f.Path = "a.go" },
		"a rule":      func(_ *Input, f *pipeline.Finding) { f.RuleID = "r1" },
	}
	for name, change := range other {
		if got := id(change); got == first {
			t.Errorf("%s: the fingerprint is the same", name)
		}
	}
}

func TestEqualFindingsHaveDifferentIDs(t *testing.T) {
	in := world(map[string][]pipeline.Finding{"x": {finding("b.go", 2, "T", pipeline.SeverityInfo), finding("b.go", 4, "T", pipeline.SeverityInfo)}})
	r := Aggregate(in)
	if len(r.Findings) != 2 || r.Findings[0].ID == r.Findings[1].ID {
		t.Errorf("two findings on equal lines: %+v", r.Findings)
	}
}

// head is one head of a pull request that only adds files. Agent x reviews it.
type head map[string][]string

// input flags each line with the word bad by one rule. It also flags each line that begins a block,
// together with the next three lines that aren't blank.
func (h head) input() Input {
	in := world(map[string][]pipeline.Finding{"x": nil})
	in.Facts.Files = nil
	var found []pipeline.Finding
	for path, lines := range h {
		in.Facts.Files = append(in.Facts.Files, file(path, lines...))
		for i, l := range lines {
			switch {
			case strings.Contains(l, "bad"):
				f := finding(path, i+1, "Bad", pipeline.SeverityWarning)
				f.RuleID = "r1"
				found = append(found, f)
			case strings.Contains(l, "begin"):
				f := finding(path, i+1, "Block", pipeline.SeverityWarning)
				f.EndLine = blockEnd(lines, i) + 1
				found = append(found, f)
			}
		}
	}
	slices.SortFunc(in.Facts.Files, func(a, b pipeline.File) int { return strings.Compare(a.Path, b.Path) })
	in.Results[0].Output.Findings = found
	return in
}

func blockEnd(lines []string, at int) int {
	for n := 0; n < 3 && at+1 < len(lines); at++ {
		if strings.TrimSpace(lines[at+1]) != "" {
			n++
		}
	}
	return at
}

func drawnHead(t *rapid.T) head {
	line := rapid.SampledFrom([]string{"bad one", "bad one", "bad  two", "good", "begin {", "else", "}"})
	h := head{}
	for _, path := range []string{"a.go", "b.go", "dir/c.go"} {
		h[path] = rapid.SliceOfN(line, 1, 12).Draw(t, path)
	}
	return h
}

// ids returns the ids of all the findings that a report's findings were merged from.
func ids(r pipeline.Report) []string {
	var out []string
	for _, f := range r.Findings {
		out = append(out, f.Fingerprints...)
	}
	slices.Sort(out)
	return out
}

// Changes that move lines without changing what they say don't change fingerprints.
func TestFingerprintsSurviveMovedLines(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		h := drawnHead(t)
		want := ids(Aggregate(h.input()))
		after := func(what string, change func(in *Input)) {
			in := h.input()
			change(&in)
			if diff := cmp.Diff(want, ids(Aggregate(in))); diff != "" {
				t.Errorf("%s: fingerprints (-before +after):\n%s", what, diff)
			}
		}
		after("agents and files in another order", func(in *Input) {
			in.Facts.Files = rapid.Permutation(in.Facts.Files).Draw(t, "files")
			in.Results[0].Output.Findings = rapid.Permutation(in.Results[0].Output.Findings).Draw(t, "findings")
		})
		after("lines shift", func(in *Input) {
			moved := head{}
			for path, lines := range h {
				n := rapid.IntRange(0, 5).Draw(t, "before "+path)
				moved[path] = slices.Concat(slices.Repeat([]string{"good"}, n), lines)
			}
			*in = moved.input()
		})
		after("white space", func(in *Input) {
			spaced := head{}
			space := rapid.SampledFrom([]string{"", " ", "\t", "  \t", "\r"})
			for path, lines := range h {
				for _, l := range lines {
					words := strings.Fields(l)
					l = space.Draw(t, "indent") + strings.Join(words, " "+space.Draw(t, "between")) + space.Draw(t, "end")
					spaced[path] = append(spaced[path], l)
					spaced[path] = append(spaced[path], slices.Repeat([]string{space.Draw(t, "blank")}, rapid.IntRange(0, 2).Draw(t, "blanks"))...)
				}
			}
			*in = spaced.input()
		})
		after("the code host tells of renames", func(in *Input) {
			for i := range in.Facts.Files {
				f := &in.Facts.Files[i]
				f.Status, f.PreviousPath, f.Path = pipeline.FileRenamed, f.Path, fmt.Sprintf("moved/%d.go", 9-i)
				for k := range in.Results[0].Output.Findings {
					if x := &in.Results[0].Output.Findings[k]; x.Path == f.PreviousPath {
						x.Path = f.Path
					}
				}
			}
		})
		after("a rebase", func(in *Input) {
			in.Facts.Base.SHA, in.Facts.Head.SHA = "newer", "rebased"
			for i := range in.Facts.Files {
				f := &in.Facts.Files[i]
				f.Status = pipeline.FileModified
				for k := range f.Hunks[0].Lines {
					if k%2 == 0 { // lines that the base has now
						f.Hunks[0].Lines[k].Op = pipeline.LineContext
					}
				}
			}
		})
	})
}

// Findings at different places have different fingerprints: there are as many fingerprints as
// places.
func TestFingerprintsTellPlacesApart(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		in := drawnHead(t).input()
		got := ids(Aggregate(in))
		if n := len(slices.Compact(slices.Clone(got))); n != len(in.Results[0].Output.Findings) {
			t.Errorf("%d places, %d fingerprints: %v", len(in.Results[0].Output.Findings), n, got)
		}
	})
}

func TestFingerprintOfACommit(t *testing.T) {
	id := func(sha, message string) string {
		f := pipeline.Finding{Title: "No imperative", Severity: pipeline.SeverityInfo, Message: "m", Confidence: 1, Section: pipeline.SectionCommit(sha)}
		in := one(f)
		in.Facts.Commits = pipeline.List[pipeline.Commit]{{SHA: "0000000000", Message: "other"}, {SHA: sha, Message: message}}
		return Aggregate(in).Findings[0].ID
	}
	first := id("1111111111", "fixed it")
	if id("2222222222", "fixed it\n") != first {
		t.Error("a rebase changed the fingerprint")
	}
	if id("1111111111", "fix it") == first {
		t.Error("a commit with another message has the same fingerprint")
	}
}

// Two commits with the same message are two places.
func TestFingerprintsOfEqualCommits(t *testing.T) {
	review := func(shas ...string) []string {
		in := world(map[string][]pipeline.Finding{"x": nil})
		for _, sha := range shas {
			in.Facts.Commits = append(in.Facts.Commits, pipeline.Commit{SHA: sha, Message: "wip"})
			in.Results[0].Output.Findings = append(in.Results[0].Output.Findings, pipeline.Finding{
				Title: "Says nothing", Severity: pipeline.SeverityInfo, Message: "m", Confidence: 1, Section: pipeline.SectionCommit(sha),
			})
		}
		return ids(Aggregate(in))
	}
	before, after := review("1111111", "2222222"), review("4444444", "3333333")
	if len(before) != 2 || before[0] == before[1] || !slices.Equal(before, after) {
		t.Errorf("before the rebase %v, after it %v", before, after)
	}
}

func TestSectionsOfAFileHaveDifferentIDs(t *testing.T) {
	at := func(section string) pipeline.Finding {
		f := finding("docs/plans/p.md", 0, "Vague", pipeline.SeverityWarning)
		f.Section = section
		return f
	}
	both := ids(Aggregate(world(map[string][]pipeline.Finding{"x": {at("Goals"), at("Risks")}})))
	left := ids(Aggregate(one(at("## risks"))))
	if len(both) != 2 || len(left) != 1 || !slices.Contains(both, left[0]) {
		t.Errorf("both %v, the second alone %v", both, left)
	}
}

func TestTitlesOfPunctuationHaveDifferentIDs(t *testing.T) {
	r := Aggregate(world(map[string][]pipeline.Finding{"x": {finding("a.go", 1, "!!!", pipeline.SeverityInfo), finding("a.go", 1, "???", pipeline.SeverityInfo)}}))
	if len(slices.Compact(ids(r))) != len(ids(r)) {
		t.Errorf("ids %v", ids(r))
	}
}

// A fingerprint does not depend on the agent, on the confidence, or on what becomes of the finding.
func TestFingerprintDependsOnThePlaceAlone(t *testing.T) {
	f := finding("b.go", 3, "T", pipeline.SeverityMajor)
	alone := Aggregate(one(f)).Findings[0].ID
	surer := f
	surer.Confidence, surer.Severity = 1, pipeline.SeverityCritical
	unsure := finding("b.go", 3, "T", pipeline.SeverityInfo)
	unsure.Confidence = 0.1
	for name, outputs := range map[string]map[string][]pipeline.Finding{
		"of another agent":              {"y": {f}},
		"by two agents":                 {"x": {f}, "y": {surer}},
		"reported twice by one agent":   {"x": {f, f}},
		"one is unsure":                 {"x": {f}, "y": {unsure}},
		"among others of the same kind": {"x": {f, finding("b.go", 1, "T", pipeline.SeverityMajor)}},
	} {
		if got := ids(Aggregate(world(outputs))); !slices.Contains(got, alone) {
			t.Errorf("%s: %v, want %s among them", name, got, alone)
		}
	}
}

// Among equal findings, models' findings don't change the positions of the others: one of them may
// be dismissed.
func TestModelsDoNotShiftEquals(t *testing.T) {
	f := finding("b.go", 3, "T", pipeline.SeverityMajor)
	in := one(f)
	alone := Aggregate(in).Findings[0].ID
	in.Memory.Dismissed = pipeline.List[pipeline.Dismissal]{{Fingerprint: other(t, in), By: "alice"}}
	in.Results = append(in.Results, pipeline.AgentResult{Agent: "llm", Model: "m", Status: pipeline.AgentOK, Output: pipeline.AgentOutput{
		Findings: pipeline.List[pipeline.Finding]{finding("b.go", 2, "T", pipeline.SeverityInfo)},
	}})
	r := Aggregate(in)
	if !slices.Contains(ids(r), alone) || !r.Decision.Blocks() {
		t.Errorf("%s, %v; want %s to block", r.Decision, ids(r), alone)
	}
}

// other returns the fingerprint of a second finding that differs from the input's only finding by
// its line alone.
func other(t *testing.T, in Input) string {
	t.Helper()
	first := in.Results[0].Output.Findings[0]
	second := first
	second.StartLine++
	in.Results = slices.Clone(in.Results)
	in.Results[0].Output.Findings = pipeline.List[pipeline.Finding]{first, second}
	for _, id := range ids(Aggregate(in)) {
		if id != Aggregate(one(first)).Findings[0].ID {
			return id
		}
	}
	t.Fatal("findings at two places have one fingerprint")
	return ""
}

// A finding that the first step discards has a fingerprint too.
func TestProtectedArtifactsKeepTheirFingerprint(t *testing.T) {
	f := finding("docs/plans/p.md", 0, "Stale plan", pipeline.SeverityMajor)
	kept := Aggregate(one(f)).Findings[0].ID
	f.Action = pipeline.ActionRemove
	if r := Aggregate(one(f)); len(r.Suppressed) != 1 || r.Suppressed[0].Finding.ID != kept {
		t.Errorf("suppressed %+v, want the fingerprint %s", r.Suppressed, kept)
	}
}
