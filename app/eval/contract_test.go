package eval

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/pipeline"
)

// A file has three forms, and other tools name the fields differently.
func TestReadExpected(t *testing.T) {
	race := Defect{Path: "a.go", Lines: []Range{{3, 5}}, Severity: pipeline.SeverityMajor, Category: "concurrency", What: "race", Words: []string{"race"}, Rules: []string{"r"}}
	want := []ExpectedCase{{"one", []Defect{race, {Path: "b.go", Lines: []Range{{7, 7}}, What: "m", Severity: pipeline.SeverityInfo}}}, {"two", nil}}
	for name, text := range map[string]string{
		"cases": `{"cases": [{"case": "one", "defects": [
			{"path": "a.go", "start_line": 3, "end_line": 5, "severity": "major", "category": "Concurrency", "title": "race", "words": ["Race "], "rules": ["r"]},
			{"file": "./b.go", "line": 7, "message": "m", "severity": "Low"}]}, {"case": "two", "defects": []}]}`,
		"by case": `{"one": [
			{"file_path": "a.go", "start_line": 3, "end_line": 5, "severity": "high", "category": "concurrency", "title": "race", "words": ["race"], "rules": ["r"]},
			{"filename": "b.go", "lines": [7], "description": "m", "severity": "P3"}], "two": []}`,
	} {
		got, left, wrong := ReadExpected("e.json", []byte(text))
		if diff := cmp.Diff(want, got); diff != "" || left.Count > 0 || len(wrong) > 0 {
			t.Errorf("%s: %d left out, %v (-want +got):\n%s", name, left.Count, wrong, diff)
		}
	}
	got, left, wrong := ReadExpected("e.json", []byte(`[{"case": "one", "comment": "c", "words": ["x"], "severity": "odd", "lines": [4, 9]}, {"case": "one", "path": "b", "tp_fp": "tp", "scope": 1}]`))
	want = []ExpectedCase{{"one", []Defect{{What: "c", Words: []string{"x"}, Lines: []Range{{4, 4}, {9, 9}}}, {Path: "b"}}}}
	if diff := cmp.Diff(want, got); diff != "" || left.Count != 2 || left.First.Pointer != "/1/tp_fp" || len(wrong) > 0 {
		t.Errorf("left out %+v, %v (-want +got):\n%s", left, wrong, diff)
	}
}

// The page shows the three files, and its example findings match its example defects.
func TestExamplesOfThePage(t *testing.T) {
	page, err := os.ReadFile(filepath.FromSlash("../../docs/reference/eval-files.md"))
	if err != nil {
		t.Fatal(err)
	}
	example := func(begins string) []byte {
		_, text, found := strings.Cut(string(page), "```json\n"+begins)
		text, _, _ = strings.Cut(text, "```")
		if !found {
			t.Fatalf("the page has no example that starts with %q", begins)
		}
		return []byte(begins + text)
	}
	expected, left, wrong := ReadExpected("expected.json", example("{\n  \"cases\""))
	if left.Count > 0 || len(wrong) > 0 {
		t.Fatal(left, wrong)
	}
	for begins, hits := range map[string]int{"{\n  \"schema_version\"": 1, "[{": 0} {
		found, left, wrong := ReadFindings("findings.json", example(begins))
		if left.Count > 0 || len(wrong) > 0 {
			t.Fatal(left, wrong)
		}
		if s, err := ScoreFindings(expected, found); err != nil || s.TruePositives != hits || s.TruePositives+s.FalsePositives != 1 {
			t.Errorf("%q: %+v, %v", begins, s.Agreement, err)
		}
	}
}

func TestReadFindings(t *testing.T) {
	cost := func(v float64) *float64 { return &v }
	got, left, wrong := ReadFindings("f.json", []byte(`{"usage": {"cost_usd": 3}, "cases": [
		{"case": "one", "status": "unfinished", "usage": {"cost_usd": 0.5}, "findings": [
			{"path": "a", "lines": [9, 4], "title": "t", "body": "b", "rule_id": "r", "category": "c", "confidence": 1, "start_line": null},
			{"file": "b", "message": "m", "severity": "warning", "producer": "x"}]}]}`))
	want := ReviewedCases{CostUSD: cost(3), Cases: []Reviewed{{Case: "one", Status: CaseUnfinished, CostUSD: cost(0.5), Findings: []pipeline.Finding{
		{Path: "a", StartLine: 4, EndLine: 9, Title: "t", Message: "b", RuleID: "r", Category: "c"}, {Path: "b", Message: "m", Severity: pipeline.SeverityWarning},
	}}}}
	if diff := cmp.Diff(want, got); diff != "" || left.Count != 1 || len(wrong) > 0 {
		t.Errorf("%d left out, %v (-want +got):\n%s", left.Count, wrong, diff)
	}
}

func TestContractRefuses(t *testing.T) {
	for text, says := range map[string]string{
		`{"cases": [{"case": "a", "defects": [{"line": 3}]}]}`:                    `e.json:1:38: /cases/0/defects/0: "path" is missing; add "path"`,
		`{"cases": [{"case": "a"}]}`:                                              `"defects" is missing`,
		`{"cases": [{"defects": []}]}`:                                            `"case" is missing`,
		`{"cases": [{"case": "a", "defects": []}, {"case": "a", "defects": []}]}`: "e.json:1:51: /cases/1/case: the case \"a\" is there twice; put its defects into one list",
		`{"cases": {}}`: "cases is an object, but must be a list",
		`{"a": 1}`:      "a is a number, but must be a list",
		`[1]`:           "a defect is a number, but must be an object",
		`7`:             "the file has no cases",
		`{`:             "e.json:1:",
		`[{"case": "a", "path": "x", "start_line": 5, "end_line": 4}]`:                                 "end_line 4 is before the first line, 5",
		`[{"case": "a", "path": "x", "line": -1}]`:                                                     "line is -1",
		`[{"case": "a", "path": "x", "line": 1e300}]`:                                                  "write a whole number",
		`[{"case": "a", "path": "x", "lines": ["3"]}]`:                                                 "this is not a line number; write the line's number",
		`[{"case": "a", "path": ["x"]}]`:                                                               "path is a list, but must be a string",
		`{"a": [` + strings.TrimSuffix(strings.Repeat(`{"path": "x"},`, maxCaseDefects+1), ",") + `]}`: `the case "a" lists more than 200`,
	} {
		_, _, wrong := ReadExpected("e.json", []byte(text))
		if len(wrong) == 0 || !strings.Contains(wrong[0].Error(), says) {
			t.Errorf("%.80s: %v, want %q", text, wrong, says)
		}
	}
	for text, says := range map[string]string{
		`[{"case": "a", "line": 3}]`:                                                                    `"title" is missing`,
		`{"usage": {"cost_usd": "1"}, "cases": []}`:                                                     "this is not a cost; write US dollars",
		`{"usage": {"cost_usd": -1}, "cases": []}`:                                                      "this is not a cost",
		`{"usage": {"cost_usd": 1e300}, "cases": []}`:                                                   "this is not a cost",
		`[{"case": "a", "path": "x", "confidence": NaN}]`:                                               "f.json:1:43: this is not JSON",
		strings.Repeat("[", 1000) + strings.Repeat("]", 1000):                                           "nested more than 32 deep",
		`{"a": [` + strings.TrimSuffix(strings.Repeat(`{"path": "x"},`, maxCaseFindings+1), ",") + `]}`: `/a/1000: the case "a" lists more than 1000`,
		`{"cases": [{"case": "a", "findings": null}]}`:                                                  `"findings" is missing`,
	} {
		_, _, wrong := ReadFindings("f.json", []byte(text))
		if len(wrong) == 0 || !strings.Contains(wrong[0].Error(), says) {
			t.Errorf("%s: %v, want %q", text, wrong, says)
		}
	}
}

// Only a limited number of errors is reported for a hostile file.
func TestContractListsSomeErrors(t *testing.T) {
	_, _, wrong := ReadFindings("f.json", []byte("["+strings.Repeat("1,", 2*maxWrong)+"1]"))
	if len(wrong) != maxWrong {
		t.Errorf("%d errors, want %d", len(wrong), maxWrong)
	}
}

// Whatever can be read can be scored.
func FuzzReadContract(f *testing.F) {
	f.Add(`{"cases": [{"case": "a", "defects": [{"path": "x", "line": 1}], "findings": [{"path": "x", "line": 2}]}]}`)
	f.Add(`{"a": [{"path": "x", "lines": [1, 2], "words": ["w"], "title": "w"}]}`)
	f.Add(`[{"case": "a", "message": "m", "words": ["m"]}]`)
	f.Fuzz(func(t *testing.T, text string) {
		expected, _, wrong := ReadExpected("e.json", []byte(text))
		found, _, more := ReadFindings("f.json", []byte(text))
		if len(wrong)+len(more) > 0 {
			return
		}
		s, err := ScoreFindings(expected, found)
		if err != nil {
			return
		}
		if s.TruePositives+s.FalseNegatives != len(s.Defects) || s.FalsePositives != len(s.Others) || strings.Contains(ScoredText(s), "NaN") {
			t.Errorf("%+v", s)
		}
	})
}
