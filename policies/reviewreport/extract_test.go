package reviewreport

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// minimal is a record with only the required fields.
const minimal = `{"status": "SUCCESS", "agent": "spec-reviewer", "operation_type": "spec_quality_review", "summary": "Fine", "success_evidence": {}}`

func section(json string) string { return Heading + "\n\n```json\n" + json + "\n```\n" }

// The section is found wherever Markdown allows it, and nowhere else.
func TestSectionIsFound(t *testing.T) {
	const other = `{"status": "FAILURE", "agent": "other", "operation_type": "x", "summary": "x", "success_evidence": {}}`
	tests := []struct {
		name, text string
		found      bool
	}{
		{"plain", section(minimal), true},
		{"at the end of a report", "# Review\n\nGood.\n\n" + section(minimal) + "\nThe end.\n", true},
		{"text between", Heading + "\n\n**Purpose**: Structured output\n\n- a list\n\n```json\n" + minimal + "\n```", true},
		{"CRLF", strings.ReplaceAll("# Review\n\n"+section(minimal), "\n", "\r\n"), true},
		{"byte order mark", "\ufeff" + section(minimal), true},
		{"several lines", section(strings.ReplaceAll(minimal, ", ", ",\n  ")), true},
		{"indented fence", Heading + "\n\n   ```json\n   " + minimal + "\n   ```\n", true},
		{"fence in a list", Heading + "\n\n1. Data:\n   - ```json\n     " + minimal + "\n     ```\n", true},
		{"fence behind a list's marker", Heading + "\n\n10) ```json\n    " + minimal + "\n    ```\n", true},
		{"longer fence", Heading + "\n\n`````json\n" + minimal + "\n`````\n", true},
		{"closed by a longer fence", Heading + "\n\n```json\n" + minimal + "\n``````  \n", true},
		{"tildes", Heading + "\n\n~~~json\n" + minimal + "\n~~~\n", true},
		{"tildes hold backticks", Heading + "\n\n~~~json\n" + minimal + "\n```\n~~~\n", false},
		{"info string in capitals, with more words", Heading + "\n\n``` JSON title=\"data\"\n" + minimal + "\n```\n", true},
		{"indented heading", "   " + section(minimal), true},
		{"closed heading", Heading + " ##\n```json\n" + minimal + "\n```\n", true},
		{"blanks around the heading", "##  \tMachine-Readable Review Data \t\n```json\n" + minimal + "\n```\n", true},
		{"other blocks before", Heading + "\n\n```yaml\na: 1\n```\n~~~\nx\n~~~\n```json\n" + minimal + "\n```\n", true},
		{"the first block counts", section(minimal) + "\n```json\n" + other + "\n```\n", true},
		{"a json block before the heading", "```json\n" + other + "\n```\n\n" + section(minimal), true},
		{"the section twice", section(minimal) + section(other), true},
		{"a heading between", Heading + "\n\n### Data\n\n```json\n" + minimal + "\n```\n", true},
		{"an example of the format before", "````markdown\n" + section(other) + "````\n\n" + section(minimal), true},
		{"a commented section before", "<!--\n" + section(other) + "-->\n\n" + section(minimal), true},
		{"a comment of one line before the section", "<!-- x -->\n" + section(minimal), true},

		{"empty", "", false},
		{"no section", "# Review\n\n```json\n" + minimal + "\n```\n", false},
		{"no block", Heading + "\n\nNothing.\n", false},
		{"another language", Heading + "\n\n```jsonc\n" + minimal + "\n```\n", false},
		{"no language", Heading + "\n\n```\n" + minimal + "\n```\n", false},
		{"only an example of the format", "````markdown\n" + section(minimal) + "````\n", false},
		{"heading in a fence, block after it", "```\n" + Heading + "\n```\n\n```json\n" + minimal + "\n```\n", false},
		{"heading in a comment, block after it", "<!--\n" + Heading + "\n-->\n\n```json\n" + minimal + "\n```\n", false},
		{"all in a comment", "<!-- " + "\n" + section(minimal) + "-->\n", false},
		{"block in a comment", Heading + "\n<!--\n```json\n" + minimal + "\n```\n-->\n", false},
		{"heading in indented code", "    " + Heading + "\n\n```json\n" + minimal + "\n```\n", false},
		{"heading in a quotation", "> " + strings.ReplaceAll(strings.TrimSpace(section(minimal)), "\n", "\n> "), false},
		{"heading of another level", "#" + section(minimal), false},
		{"heading with more words", Heading + " (old)\n```json\n" + minimal + "\n```\n", false},
		{"heading after invisible characters", "x\n\ufeff" + section(minimal), false},
		{"heading in a sentence", "see " + section(minimal), false},
		{"two backticks are no fence", Heading + "\n\n``json\n" + minimal + "\n``\n", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := Extract([]byte(test.text))
			switch {
			case test.found && (r.Broken() || r.Agent != "spec-reviewer"):
				t.Errorf("%s: %s", r.Agent, r.Error)
			case !test.found && !r.Broken():
				t.Error("a section was found")
			}
		})
	}
}

// HasSection distinguishes reports, valid or broken, from other texts.
func TestHasSection(t *testing.T) {
	for text, want := range map[string]bool{
		"":                             false,
		"LGTM":                         false,
		"see `" + Heading + "`":        false,
		"> " + Heading:                 false,
		"```\n" + Heading + "\n```":    false,
		section(minimal):               true,
		Heading:                        true,
		"x\n\n" + Heading + "\nbroken": true,
	} {
		if got := HasSection([]byte(text)); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// A broken report says what is wrong, where, and what to do. It counts as a failure of an unknown
// agent.
func TestBrokenReports(t *testing.T) {
	with := func(field, value string) string {
		return section(strings.TrimSuffix(minimal, "}") + ",\n  " + `"` + field + `": ` + value + "}")
	}
	evidence := func(json string) string { return section(strings.Replace(minimal, "{}", json, 1)) }
	without := func(field string) string {
		var fields map[string]any
		if err := json.Unmarshal([]byte(minimal), &fields); err != nil {
			t.Fatal(err)
		}
		delete(fields, field)
		b, err := json.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		return "# Review\n" + section(string(b))
	}
	recommendation := func(json string) string {
		return evidence(`{"review_findings": {"recommendations": [{"priority": "High"}, ` + json + `]}}`)
	}
	const failed = "JSON parsing failed: "
	tests := []struct {
		name, text, want string
	}{
		{"no section", "# Review\n", "Review report missing machine-readable section"},
		{"section without a block", Heading + "\n", "Review report missing machine-readable section"},
		{"not closed", "x\n" + Heading + "\n```json\n" + minimal + "\n", failed + "line 3: the json block is not closed"},
		{"not closed, nothing in it", Heading + "\n```json", failed + "line 2: the json block is not closed"},
		{"empty", Heading + "\n```json\n```", failed + "line 2: the json block is empty"},
		{"blank", Heading + "\n```json\n \t\n```", failed + "line 2: the json block is empty"},
		{"not JSON", section("{status: SUCCESS}"), failed + "line 4, column 2: this is not JSON: invalid character 's' looking for beginning of object key string; check the quotes, commas and brackets around it"},
		{"trailing comma", section("{\"status\":\n \"SUCCESS\",\n}"), failed + "line 5, column 11: there is a comma after the last entry; remove the comma"},
		{"cut off", section(minimal[:len(minimal)-1]), failed + "line 5, column 1: the file ends in the middle of a value; close every string, bracket and brace"},
		{"NaN", with("confidence", "NaN"), failed + "line 5, column 17: this is not JSON: invalid character 'N' looking for beginning of value; check the quotes, commas and brackets around it"},
		{"infinity", with("confidence", "1e999"), failed + "line 5, column 17: /confidence: the number is too long or too large; write it in at most 32 characters and with an exponent of at most 300"},
		{"bad UTF-8", with("task_id", "\"\xff\""), failed + "line 5, column 15: the file is not valid UTF-8 here; save it as UTF-8"},
		{"key twice", with("status", `"FAILURE"`), failed + `line 5, column 3: /status: "status" occurs twice in one object; keep one of them`},
		{"two values", section(minimal + minimal), failed + fmt.Sprintf("line 4, column %d: there is something after the end of the JSON value; keep one value in the file and remove the rest", len(minimal)+1)},
		{"a list", section("[" + minimal + "]"), failed + "line 4, column 1: this is a list; write an object"},
		{"null", section("null"), failed + "line 4, column 1: this is null; write an object"},
		{"deep", with("x", strings.Repeat("[", 50)+strings.Repeat("]", 50)), failed + "line 5, column 39: /x" + strings.Repeat("/0", 31) + ": values are nested more than 32 deep; nest them less deeply"},

		{"no status", without("status"), "Missing required field: status (in the json block on line 4)"},
		{"no agent", without("agent"), "Missing required field: agent (in the json block on line 4)"},
		{"no operation type", without("operation_type"), "Missing required field: operation_type (in the json block on line 4)"},
		{"no summary", without("summary"), "Missing required field: summary (in the json block on line 4)"},
		{"no evidence", without("success_evidence"), "Missing required field: success_evidence (in the json block on line 4)"},
		{"nothing", section("{}"), "Missing required fields: status, agent, operation_type, summary, success_evidence (in the json block on line 3)"},
		{"missing and wrong", section(`{"status": 1}`), "Missing required fields: agent, operation_type, summary, success_evidence (in the json block on line 3)"},

		{"number as a string", with("confidence", `"0.9"`), failed + "line 5, column 17: /confidence: this is a string; write a number from 0 to 1"},
		{"confidence in percent", with("confidence", "90"), failed + "line 5, column 17: /confidence: 90 is out of range; write a number from 0 to 1"},
		{"confidence below 0", with("confidence", "-0.1"), failed + "line 5, column 17: /confidence: -0.1 is out of range; write a number from 0 to 1"},
		{"no confidence", with("confidence", "null"), failed + "line 5, column 17: /confidence: this is null; write a number from 0 to 1, or leave it out"},
		{"severity", with("severity", "2"), failed + "line 5, column 15: /severity: this is a number; write a string"},
		{"empty severity", with("severity", `"- \u00a0"`), failed + "line 5, column 15: /severity: this has neither letter nor digit; write a word"},
		{"long severity", with("severity", `"`+strings.Repeat("é", 101)+`"`), failed + "line 5, column 15: /severity: this has more than 100 characters; write a word"},
		{"task id", with("task_id", "7"), failed + "line 5, column 14: /task_id: this is a number; write a string"},
		{"checklist", with("validation_checklist", "[true]"), failed + "line 5, column 27: /validation_checklist: this is a list; write an object"},
		{"time", with("execution_timestamp", "1700000000"), failed + "line 5, column 26: /execution_timestamp: this is a number; write a string"},
		{"null status", section(strings.Replace(minimal, `"SUCCESS"`, "null", 1)), failed + "line 4, column 12: /status: this is null; write a string"},
		{"status", section(strings.Replace(minimal, `"SUCCESS"`, "true", 1)), failed + "line 4, column 12: /status: this is true or false; write a string"},
		{"empty agent", section(strings.Replace(minimal, "spec-reviewer", "", 1)), failed + "line 4, column 32: /agent: this has neither letter nor digit; write a word"},
		{"evidence", evidence("[]"), failed + "line 4, column 129: /success_evidence: this is a list; write an object"},
		{"assessment", evidence(`{"quality_assessment": 0.9}`), failed + "line 4, column 152: /success_evidence/quality_assessment: this is a number; write an object"},
		{"score", evidence(`{"quality_assessment": {"clarity_score": "high"}}`), failed + "line 4, column 170: /success_evidence/quality_assessment/clarity_score: this is a string; write a number from 0 to 1"},
		{"score above 1", evidence(`{"quality_assessment": {"clarity_score": 1.0000001}}`), failed + "line 4, column 170: /success_evidence/quality_assessment/clarity_score: 1.0000001 is out of range; write a number from 0 to 1"},
		{"answer", evidence(`{"validation_results": {"quality_threshold_met": "yes"}}`), failed + "line 4, column 178: /success_evidence/validation_results/quality_threshold_met: this is a string; write true or false"},
		{"answer as a number", evidence(`{"validation_results": {"quality_threshold_met": 1}}`), failed + "line 4, column 178: /success_evidence/validation_results/quality_threshold_met: this is a number; write true or false"},
		{"degree in words", evidence(`{"validation_results": {"pain_point_aligned": "mostly"}}`), failed + "line 4, column 175: /success_evidence/validation_results/pain_point_aligned: this is a string; write true or false, or a number from 0 to 1"},
		{"degree of more than all", evidence(`{"validation_results": {"architecture_feasible": 1.5}}`), failed + "line 4, column 178: /success_evidence/validation_results/architecture_feasible: 1.5 is out of range; write a number from 0 to 1"},
		{"findings", evidence(`{"review_findings": []}`), failed + "line 4, column 149: /success_evidence/review_findings: this is a list; write an object"},
		{"recommendations", evidence(`{"review_findings": {"recommendations": {}}}`), failed + "line 4, column 169: /success_evidence/review_findings/recommendations: this is an object; write a list"},
		{"recommendation", recommendation(`"Do it"`), failed + "line 4, column 192: /success_evidence/review_findings/recommendations/1: this is a string; write an object with priority, category, finding, recommendation and location"},
		{"recommendation's field", recommendation(`{"location": ["A"]}`), failed + "line 4, column 205: /success_evidence/review_findings/recommendations/1/location: this is a list; write a string"},
		{"several", with("severity", "2, \"task_id\": 3"), failed + "line 5, column 29: /task_id: this is a number; write a string (and 1 more)"},
		{"too many recommendations", evidence(`{"review_findings": {"recommendations": [` + strings.Repeat("{}, ", MaxRecommendations) + `{}]}}`), failed + "line 4, column 169: /success_evidence/review_findings/recommendations: there are 501 recommendations, more than the limit of 500; keep the most important ones"},
		{"too large", section(minimal) + strings.Repeat(" ", MaxBytes), failed + "the report has more than 1048576 bytes"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := Extract([]byte(test.text))
			if r.Error != test.want {
				t.Errorf("error\n%s, want\n%s", r.Error, test.want)
			}
			if r.Status != "FAILURE" || r.Agent != "unknown" || r.Recovery == "" {
				t.Errorf("%s of %s; %q", r.Status, r.Agent, r.Recovery)
			}
		})
	}
}

// The texts that orchestrators look for keep their wording.
func TestRecovery(t *testing.T) {
	for text, want := range map[string]string{
		"":           "Re-run review agent or parse human-readable content manually",
		section("{"): "Check review report for syntax errors in JSON block",
	} {
		if got := Extract([]byte(text)).Recovery; got != want {
			t.Errorf("%q: %s", text, got)
		}
	}
}

// All fields of a report are read. A missing field has its default, and unknown fields are ignored.
func TestExtractReadsAllFields(t *testing.T) {
	score := func(f float64) *float64 { return &f }
	got := Extract([]byte(section(`{
		"status": "SUCCESS", "agent": "spec-reviewer", "task_id": "review-1", "operation_type": "spec_quality_review", "summary": "Fine",
		"validation_checklist": {"complete": true, "notes": ["a"]}, "confidence": 0.85, "severity": "Minor", "execution_timestamp": "2026-11-21T14:00:00Z",
		"mood": "good", "error": "ignored",
		"success_evidence": {
			"quality_assessment": {"completeness_score": 1, "testability_score": 0.7, "clarity_score": -0.0, "pain_point_alignment": 5e-1, "more": 7},
			"review_findings": {"recommendations": [{"priority": "High", "category": "clarity", "finding": "F", "recommendation": "R", "location": "L", "effort": 3}, {}]},
			"validation_results": {"quality_threshold_met": true, "pain_point_aligned": false}
		}}`)))
	want := Record{
		Status: "SUCCESS", Agent: "spec-reviewer", TaskID: "review-1", OperationType: "spec_quality_review", Summary: "Fine",
		ValidationChecklist: map[string]any{"complete": true, "notes": []any{"a"}}, Confidence: score(0.85), Severity: "Minor", ExecutionTimestamp: "2026-11-21T14:00:00Z",
		SuccessEvidence: Evidence{
			QualityAssessment: &QualityAssessment{score(1), score(0.7), score(0), score(0.5)},
			ReviewFindings:    ReviewFindings{[]Recommendation{{"High", "clarity", "F", "R", "L"}, {}}},
			ValidationResults: ValidationResults{QualityThresholdMet: true},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if math.Signbit(*got.SuccessEvidence.QualityAssessment.ClarityScore) {
		t.Error("a score is -0, which would be printed")
	}
	if r := Extract([]byte(section(minimal))); r.confidence() != 1 || r.severity() != "Minor" || r.SuccessEvidence.QualityAssessment != nil {
		t.Errorf("defaults: %+v", r)
	}
}

// Reading any hostile report takes limited memory and time.
func TestHostileReports(t *testing.T) {
	const mega = MaxBytes - 1000
	tests := map[string]string{
		"many values":         section("[0" + strings.Repeat(",0", mega/2) + "]"),
		"many keys":           section("{" + strings.Repeat(`"a":0,`, mega/6) + `"a":0}`),
		"keys below long key": section(`{"` + strings.Repeat("k", mega/2) + `":{` + strings.Repeat(`"a":0,`, mega/12) + `"a":0}}`),
		"many wrong values":   section(strings.Replace(minimal, "{}", `{"review_findings":{"recommendations":[`+strings.Repeat(`{"priority":1},`, 400)+`{}]}}`, 1)),
		"deep":                section(strings.Repeat("[", mega)),
		"deep objects":        section(strings.Repeat(`{"a":`, mega/5)),
		"one long string":     section(`{"agent":"` + strings.Repeat("\u202e", mega/3) + `"}`),
		"many fences":         strings.Repeat("```\n", mega/4),
		"many headings":       strings.Repeat(Heading+"\n", mega/len(Heading+"\n")),
		"one long line":       strings.Repeat("`", mega),
		"list markers":        Heading + "\n" + strings.Repeat("- ", mega/2) + "```json",
		"comments":            strings.Repeat("<!--\n", mega/5),
		"100 MB":              strings.Repeat("x", 100<<20),
	}
	for name, text := range sample.Map(t, 5, tests) {
		t.Run(name, func(t *testing.T) {
			input := []byte(text)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			r := Extract(input)
			runtime.ReadMemStats(&after)
			if !r.Broken() || len(r.Error) > 2000 {
				t.Errorf("an error of %d bytes: %.200s", len(r.Error), r.Error)
			}
			if used := after.TotalAlloc - before.TotalAlloc; used > 200<<20 && !raceDetector {
				t.Errorf("reading took %d MiB", used>>20)
			}
		})
	}
}

// Extract accepts any bytes within limited time. A record that it returns can be written and read
// again.
func FuzzExtract(f *testing.F) {
	for _, seed := range []string{
		"", section(minimal), section("{}"), section(`{"a": [1, 2`), strings.ReplaceAll(section(minimal), "\n", "\r\n"),
		"````\n" + section(minimal) + "````\n", "<!--\n" + section(minimal) + "-->\n" + Heading + "\n- ~~~ json\n" + minimal + "\n~~~",
		section(strings.Replace(minimal, "{}", `{"quality_assessment": {"clarity_score": 1e-7}, "review_findings": {"recommendations": [{"location": "\u0000"}]}}`, 1)),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r := Extract(text)
		if r.Broken() {
			if r.Status != StatusFailure || r.Agent != AgentUnknown || r.Recovery == "" || Aggregate("spec", []Report{{Record: r}}, defaults).Proceed {
				t.Fatalf("%+v", r)
			}
			return
		}
		if !HasSection(text) || r.Agent == "" || r.Status == "" {
			t.Fatalf("%+v", r)
		}
		again := Extract([]byte(Write(&r)))
		if diff := cmp.Diff(Write(&r), Write(&again)); diff != "" {
			t.Fatalf("(-written +read and written):\n%s", diff)
		}
	})
}

// The example in the documentation is a report that passes.
func TestDocumentedExample(t *testing.T) {
	text, err := os.ReadFile("../../docs/review-reports.md")
	if err != nil {
		t.Fatal(err)
	}
	if HasSection(text) {
		t.Error("the page itself counts as a report")
	}
	_, example, _ := strings.Cut(string(text), "````markdown\n")
	example, _, _ = strings.Cut(example, "````\n")
	r := Read("example.md", "example.md", []byte(example))
	if got := Aggregate("spec", []Report{r}, defaults); !got.Proceed || len(got.Recommendations) != 1 {
		t.Errorf("%s; %s", got.Rationale, r.Record.Error)
	}
}
