package aggregate

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

const longLine = "bad := connect(warehouse, withoutPassword)"

// A file that the change adds has a different name on the next head, and the code host does not
// report a rename.
func TestFileThatTheChangeAddsIsRenamed(t *testing.T) {
	const open = "new 0, open 1, resolved 0, unconfirmed 0, back []"
	const parted = "new 1, open 0, resolved 1, unconfirmed 0, back []"
	for name, tc := range map[string]struct {
		before, after head
		want          string
	}{
		"another name":                  {head{"a.go": {longLine}}, head{"b.go": {"good", " " + longLine}}, open},
		"another directory":             {head{"x/a.go": {"bad line"}}, head{"y/a.go": {"bad line"}}, open},
		"fixed meanwhile":               {head{"a.go": {longLine}}, head{"b.go": {"good"}}, "new 0, open 0, resolved 1, unconfirmed 0, back []"},
		"one of two fixed":              {head{"a.go": {longLine, "good", "good", "bad two"}}, head{"b.go": {longLine}}, "new 0, open 1, resolved 1, unconfirmed 0, back []"},
		"a short line":                  {head{"a.go": {"bad line"}}, head{"b.go": {"bad line"}}, parted},
		"the same name, no code":        {head{"x/a.go": {"bad"}}, head{"y/a.go": {"bad"}}, parted},
		"other code":                    {head{"a.go": {longLine}}, head{"b.go": {longLine + " // why"}}, parted},
		"the first file is still there": {head{"a.go": {longLine}}, head{"a.go": {"good"}, "b.go": {longLine}}, parted},
		"a copy":                        {head{"a.go": {longLine}}, head{"a.go": {longLine}, "b.go": {longLine}}, "new 1, open 1, resolved 0, unconfirmed 0, back []"},
		"two copies of one":             {head{"a.go": {longLine}}, head{"b.go": {longLine}, "c.go": {longLine}}, "new 1, open 1, resolved 0, unconfirmed 0, back []"},
		"the file was already there":    {head{"a.go": {longLine}, "b.go": {"bad line"}}, head{"b.go": {"bad line", "good", "good", longLine}}, "new 1, open 1, resolved 1, unconfirmed 0, back []"},
	} {
		wantHistory(t, name, afterHeads(tc.before.input(), tc.after.input()), tc.want)
	}
}

func TestRenamedIsRememberedFromThenOn(t *testing.T) {
	r := afterHeads(head{"a.go": {longLine, "good", "good", "bad 2"}}.input(), head{"b.go": {longLine, "good", "good", "bad 2"}}.input(), head{"b.go": {"good", "bad 2"}}.input())
	wantHistory(t, "the code that told is fixed", r, "new 0, open 1, resolved 1, unconfirmed 0, back []")
	if got := r.Findings[0].OriginalPath; got != "a.go" {
		t.Errorf("the original path is %q", got)
	}
	wantHistory(t, "renamed twice", afterHeads(head{"a.go": {longLine}}.input(), head{"b.go": {longLine}}.input(), head{"c.go": {longLine}}.input()), "new 0, open 1, resolved 0, unconfirmed 0, back []")
	wantHistory(t, "and back", afterHeads(head{"a.go": {longLine}}.input(), head{"b.go": {longLine}}.input(), head{"a.go": {longLine}}.input()), "new 0, open 1, resolved 0, unconfirmed 0, back []")
}

// If the code host reports a path as the former path of one file, it can't be the former path of
// another.
func TestRenameThatTheCodeHostReports(t *testing.T) {
	next := head{"b.go": {longLine}, "c.go": {longLine}}.input()
	for i := range next.Facts.Files {
		if f := &next.Facts.Files[i]; f.Path == "c.go" {
			f.Status, f.PreviousPath = pipeline.FileRenamed, "a.go"
		}
	}
	r := afterHeads(head{"a.go": {longLine}}.input(), next)
	wantHistory(t, "one renamed, one copied", r, "new 1, open 1, resolved 0, unconfirmed 0, back []")
	for _, f := range r.Findings {
		if (f.OriginalPath == "a.go") != (f.Path == "c.go") {
			t.Errorf("%s was %q before", f.Path, f.OriginalPath)
		}
	}
}

// The code host may report a rename on one head. On the next head, it may report an added file,
// because too little of the old file is left.
func TestRenameThatTheCodeHostReportsOnce(t *testing.T) {
	renamed := func() Input {
		in := head{"b.go": {"bad"}}.input()
		in.Facts.Files[0].Status, in.Facts.Files[0].PreviousPath = pipeline.FileRenamed, "a.go"
		return in
	}
	added := head{"b.go": {"bad"}}.input
	const open = "new 0, open 1, resolved 0, unconfirmed 0, back []"
	wantHistory(t, "told first", afterHeads(renamed(), added()), open)
	wantHistory(t, "told later", afterHeads(added(), renamed()), open)
	wantHistory(t, "before and after", afterHeads(head{"a.go": {"bad"}}.input(), renamed(), added(), renamed(), head{"a.go": {"bad"}}.input()), open)
}

// The base renames a file that the change modifies.
func TestTheBaseRenames(t *testing.T) {
	before, after := head{"a.go": {longLine}}.input(), head{"b.go": {longLine}}.input()
	before.Facts.Files[0].Status, after.Facts.Files[0].Status = pipeline.FileModified, pipeline.FileModified
	wantHistory(t, "rebased", afterHeads(before, after), "new 0, open 1, resolved 0, unconfirmed 0, back []")
}

// A finding is fixed and then comes back in a file with another name.
func TestBroughtBackUnderAnotherName(t *testing.T) {
	with, gone := head{"a.go": {longLine}}.input(), head{"a.go": {"good"}}.input()
	for name, r := range map[string]pipeline.Report{
		"renamed when it comes back":   afterHeads(with, gone, head{"b.go": {longLine}}.input()),
		"renamed before":               afterHeads(with, gone, head{"b.go": {"good"}}.input(), head{"b.go": {longLine}}.input()),
		"with the file gone meanwhile": afterHeads(with, head{}.input(), head{"b.go": {longLine}}.input()),
	} {
		wantHistory(t, name, r, `new 1, open 0, resolved 0, unconfirmed 0, back ["back: it was fixed in head-2"]`)
	}
}

// A dismissed finding stays dismissed if its file gets another name.
func TestDismissedUnderAnotherName(t *testing.T) {
	before := head{"a.go": {longLine}}.input()
	dismissed := pipeline.List[pipeline.Dismissal]{{Fingerprint: Aggregate(before).Findings[0].ID, Path: "a.go", By: "alice"}}
	before.Memory.Dismissed = dismissed
	for name, after := range map[string]head{"renamed": {"b.go": {longLine}}, "in another directory": {"x/a.go": {longLine}}} {
		in := after.input()
		in.Memory.Dismissed = dismissed
		for when, r := range map[string]pipeline.Report{"at once": afterHeads(before, in), "later": afterHeads(before, head{}.input(), in)} {
			if len(r.Suppressed) != 1 || len(r.Findings) != 0 {
				t.Errorf("%s %s: %d findings, %d suppressed", name, when, len(r.Findings), len(r.Suppressed))
			}
		}
	}
	in := head{"b.go": {"bad line"}}.input()
	in.Memory.Dismissed = dismissed
	if r := afterHeads(before, in); len(r.Findings) != 1 {
		t.Error("a finding in another file is dismissed")
	}
}

// A model's findings in a file don't give other findings an identity that they would not have
// without the model.
func TestModelsDoNotIdentifyFilesForOthers(t *testing.T) {
	remark := finding("a.go", 1, "Anything", pipeline.SeverityInfo)
	byModel := func(in Input, path string) Input {
		f := remark
		f.Path = path
		in.Results = append(in.Results, pipeline.AgentResult{Agent: "llm", Model: "m", Status: pipeline.AgentOK, Output: pipeline.AgentOutput{Findings: pipeline.List[pipeline.Finding]{f}}})
		return in
	}
	// The line that the model flags is long enough to identify the file. The agent's line is not.
	lines := []string{"x := connect(warehouse, withoutPassword)", "good", "good", "bad"}
	r := afterHeads(byModel(head{"a.go": lines}.input(), "a.go"), byModel(head{"b.go": lines}.input(), "b.go"))
	wantHistory(t, "with an agent's finding", r, "new 2, open 0, resolved 2, unconfirmed 0, back []")
	lines = lines[:1]
	r = afterHeads(byModel(head{"a.go": lines}.input(), "a.go"), byModel(head{"b.go": lines}.input(), "b.go"))
	wantHistory(t, "with the model's alone", r, "new 0, open 1, resolved 0, unconfirmed 0, back []")
}

// Files without common flagged code are never matched, and each file is matched with at most one
// other.
func TestUnrelatedFilesStayApart(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		draw := func(dir, word string) head {
			h := head{}
			for i := range rapid.IntRange(0, 4).Draw(t, dir) {
				path := fmt.Sprintf("%s/%d.go", dir, i)
				for k := range rapid.IntRange(1, 5).Draw(t, path) {
					h[path] = append(h[path], rapid.SampledFrom([]string{"bad", "good"}).Draw(t, fmt.Sprintf("%s:%d", path, k)), "bad "+word+longLine)
				}
			}
			return h
		}
		before, after := draw("x", "one"), draw("y", "two")
		r := afterHeads(before.input(), after.input())
		if r.Changes.Open != 0 || len(r.Changes.Resolved) != len(Aggregate(before.input()).Findings) {
			t.Errorf("unrelated files were matched: %s", history(r))
		}
	})
}

// However files move, the result depends only on their content, and no former path is used twice.
func TestRenamesAreOneToOne(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		line := rapid.SampledFrom([]string{longLine, "bad " + longLine, "bad line", "good"})
		draw := func(dir string) head {
			h := head{}
			for i := range rapid.IntRange(0, 4).Draw(t, dir) {
				h[fmt.Sprintf("%s/%d.go", dir, i)] = rapid.SliceOfN(line, 1, 6).Draw(t, "lines")
			}
			return h
		}
		r := afterHeads(draw("x").input(), draw("y").input())
		from := map[string]string{}
		for _, f := range r.Findings {
			if f.OriginalPath == "" {
				continue
			}
			if to, ok := from[f.OriginalPath]; ok && to != f.Path {
				t.Errorf("%s is the original path of %s and %s", f.OriginalPath, to, f.Path)
			}
			from[f.OriginalPath] = f.Path
		}
	})
}

// Many files with one name and many former paths cost a bounded amount of work.
func TestRenamesAreBounded(t *testing.T) {
	before, after := head{}, head{}
	for i := range 1500 {
		before[fmt.Sprintf("x%d/index.go", i)] = []string{longLine}
		after[fmt.Sprintf("y%d/index.go", i)] = []string{longLine}
	}
	r := afterHeads(before.input(), after.input())
	if r.Changes.Open == 0 || r.Changes.Open > mostCompared || r.Changes.Open+r.Changes.New != 1500 {
		t.Errorf("%s", history(r))
	}

	f := &item{Finding: pipeline.Finding{Title: "T", Path: "b.go"}, title: newTitles().of("T"), flagged: longLine + "\n"}
	id := fingerprints([]*item{f}, func(*item) string { return "a.go" })[0]
	for tries, want := range map[int]string{0: "", 10: "a.go"} {
		r := renames{arrived: map[string][]*item{"b.go": {f}}, former: map[string]map[string]bool{"a.go": {id: true}}, tries: tries}
		origins := map[string]string{}
		r.find(origins)
		if origins["b.go"] != want {
			t.Errorf("with %d tries: %v", tries, origins)
		}
	}
}

// Files that all have the same name are recognised when their directory moves.
func TestDirectoriesMove(t *testing.T) {
	before, after := head{}, head{}
	for i := range 500 {
		before[fmt.Sprintf("x/part%d/index.go", i)] = []string{"bad line"}
		after[fmt.Sprintf("y/part%d/index.go", i)] = []string{"bad line"}
	}
	wantHistory(t, "moved", afterHeads(before.input(), after.input()), "new 0, open 500, resolved 0, unconfirmed 0, back []")
}

// Too little of a file is left for the code host to report a rename, so it lists one file as
// removed and another as added.
func TestRenamedAndRewritten(t *testing.T) {
	before, after := head{"a.go": {longLine, "good"}}.input(), head{"b.go": {longLine}}.input()
	before.Facts.Files[0].Status = pipeline.FileModified
	after.Facts.Files = append(pipeline.List[pipeline.File]{{Path: "a.go", Status: pipeline.FileRemoved}}, after.Facts.Files...)
	wantHistory(t, "rewritten", afterHeads(before, after), "new 0, open 1, resolved 0, unconfirmed 0, back []")

	// A finding about the removed file itself is a finding of its own.
	of := after
	of.Results = slices.Clone(of.Results)
	f := finding("a.go", 0, "Removed without a word", pipeline.SeverityInfo)
	of.Results[0].Output.Findings = append(pipeline.List[pipeline.Finding]{f}, of.Results[0].Output.Findings...)
	wantHistory(t, "said of the removed one", afterHeads(of, of), "new 0, open 2, resolved 0, unconfirmed 0, back []")
}
