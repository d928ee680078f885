package eval

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// The shipped cases get the same score as diffs and as repositories.
func TestExportedCasesScoreAlike(t *testing.T) {
	cases := sample.Of(t, 12, loadSet(t))
	dir := filepath.Join(t.TempDir(), "new", "cases")
	if err := Export(t.Context(), cases, dir); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, ExpectedFile))
	if err != nil {
		t.Fatal(err)
	}
	expected, left, wrong := ReadExpected(ExpectedFile, text)
	if left.Count > 0 || len(wrong) > 0 || len(expected) != len(cases) {
		t.Fatalf("%d cases, %d fields left out, %v", len(expected), left.Count, wrong)
	}
	diffs, err := FindDiffs(dir)
	if err != nil {
		t.Fatal(err)
	}
	findings, err := RunDiffs(t.Context(), diffs, options(nil))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range findings.Cases {
		if c.Status != CaseOK {
			t.Errorf("%s is %s: %q", c.Case, c.Status, c.Reasons)
		}
	}
	read, problems := backAndForth(t, findings)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	s, err := ScoreFindings(expected, read)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Run(t.Context(), options(cases))
	if err != nil {
		t.Fatal(err)
	}
	if s.TruePositives != r.Report.Found || s.TruePositives+s.FalsePositives != r.Report.Findings || s.CleanCases != r.Clean || len(s.Defects) != len(r.Defects) {
		t.Errorf("as diffs %+v, as repositories %+v", s.Agreement, r.Report)
	}
	src, err := readDiff(diffs[0].File)
	if i := slices.IndexFunc(cases, func(c Case) bool { return c.Name == diffs[0].Case }); err != nil || src.title != cases[i].Title || src.body != cases[i].Body || len(src.commits) != 1 {
		t.Errorf("%s has the title %q and the text %q: %v", diffs[0].Case, src.title, src.body, err)
	}
}
