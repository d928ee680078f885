package agentoutput

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/jsontree"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// needed are the required fields of a finding.
const needed = `"title": "t", "severity": "major", "message": "m", "confidence": 0.9, "path": "a.go"`

func envelope(findings ...string) string {
	return `{"agent": "a", "findings": [` + strings.Join(findings, ",") + `]}`
}

func decode(t *testing.T, text string) []Output {
	t.Helper()
	out, errs := Decode("a.json", []byte(text), func(agent string) bool { return agent == "graded" })
	if len(errs) > 0 {
		t.Fatalf("errors: %v", errs)
	}
	for _, o := range out {
		if len(o.Wrong) > 0 {
			t.Fatalf("errors: %v", o.Wrong)
		}
	}
	return out
}

func TestDecode(t *testing.T) {
	const text = `{
	  "stage": "spec", "findings": [
	    {"title": "Wrong total", "severity": "P1", "message": "It is off by one.", "confidence": 1, "path": "a.go", "section": "Sums",
	     "rule_id": "sum-01", "category": "correctness", "start_line": 3, "end_line": 4.0, "why_it_matters": "Money.", "evidence": ["x", "y"],
	     "recommendation": "Add one.", "action": "change", "suggested_fix": "n+1", "autofix_class": "auto", "auto_claim": "pattern",
	     "citation": "b.go:7", "finding_type": "omission", "blocking": true,
	     "id": 5, "agent": "root", "model": 7, "reviewers": "all", "gate_severity": "info", "state": "dismissed"},
	    {"severity": "Minor", "title": "t", "message": "m", "confidence": 0, "section": "Scope", "path": null, "evidence": null, "action": "", "start_line": null}],
	  "model": "m1", "agent": "sme", "residual_concerns": ["Who pays?"], "deferred_questions": ["When?"]
	}`
	want := pipeline.AgentOutput{
		Agent: "sme", Model: "m1", Stage: "spec",
		Findings: pipeline.List[pipeline.Finding]{
			{
				Title: "Wrong total", Severity: pipeline.SeverityMajor, Message: "It is off by one.", Confidence: 1, Path: "a.go", Section: "Sums",
				RuleID: "sum-01", Category: "correctness", StartLine: 3, EndLine: 4, WhyItMatters: "Money.", Evidence: pipeline.List[string]{"x", "y"},
				Recommendation: "Add one.", Action: pipeline.ActionChange, SuggestedFix: "n+1", AutofixClass: pipeline.AutofixAuto, AutoClaim: "pattern",
				Citation: "b.go:7", FindingType: pipeline.FindingOmission, Blocking: true,
			},
			{Title: "t", Severity: pipeline.SeverityWarning, Message: "m", Section: "Scope"},
		},
		ResidualConcerns: pipeline.List[string]{"Who pays?"}, DeferredQuestions: pipeline.List[string]{"When?"},
	}
	out := decode(t, text)
	if diff := cmp.Diff(want, out[0].AgentOutput); diff != "" || len(out) != 1 {
		t.Errorf("output (-want +got):\n%s", diff)
	}
	if out[0].Dropped.Count > 0 || out[0].Unknown.Count > 0 {
		t.Errorf("dropped %v, unknown %v", out[0].Dropped, out[0].Unknown)
	}
	at := out[0].Places[1]
	if got := fmt.Sprintf("%d:%d %s", at.Line, at.Column, at.Pointer); got != "8:6 /findings/1" {
		t.Errorf("the second finding stands at %s", got)
	}
}

func TestDecodeLists(t *testing.T) {
	out := decode(t, "["+envelope("{"+needed+"}")+","+envelope()+","+envelope("{"+needed+"}", "{"+needed+"}")+"]")
	var got []int
	for _, o := range out {
		got = append(got, len(o.Findings))
	}
	if diff := cmp.Diff([]int{1, 0, 2}, got); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
	if got := out[2].Places[1].Pointer; got != "/2/findings/1" {
		t.Errorf("the last finding stands at %s", got)
	}
	if out := decode(t, "[]"); len(out) > 0 {
		t.Errorf("an empty list has %d outputs", len(out))
	}
}

func TestWrongEnvelope(t *testing.T) {
	type envelopeTest struct {
		name, text string
		want       []string
	}
	tests := []envelopeTest{
		{"not an object", `"a"`, []string{`a.json:1:1: an agent's output is a string, but must be an object; write it in { }`}},
		{"a list of findings", `[{` + needed + `}]`, []string{`a.json:1:2: /0: "agent" is missing; add "agent"`, `a.json:1:2: /0: "findings" is missing; add "findings"`}},
		{"one of several", "[" + envelope() + ",\n{}]", []string{`a.json:2:1: /1: "agent" is missing; add "agent"`, `a.json:2:1: /1: "findings" is missing; add "findings"`}},
		{"an agent without a name", `{"agent": " ", "findings": []}`, []string{`a.json:1:11: /agent: agent is empty; write something`}},
		{"a long name", `{"agent": "` + strings.Repeat("a", 201) + `", "findings": []}`, []string{`a.json:1:11: /agent: agent has 201 bytes, more than the limit of 200; shorten it`}},
		{"a number as the model", `{"agent": "a", "model": 4, "findings": []}`, []string{`a.json:1:25: /model: model is a number, but must be a string; write it in double quotes`}},
		{"an unknown stage", `{"agent": "a", "stage": "tests", "findings": []}`, []string{`a.json:1:25: /stage: "tests" is not a stage; use spec or quality`}},
		{"no findings", `{"agent": "a"}`, []string{`a.json:1:1: "findings" is missing; add "findings"`}},
		{"null for findings", `{"agent": "a", "findings": null}`, []string{`a.json:1:1: "findings" is missing; add "findings"`}},
		{"an object of findings", `{"agent": "a", "findings": {}}`, []string{`a.json:1:28: /findings: findings is an object, but must be a list; write it in [ ]`}},
		{"a concern that is not a string", `{"agent": "a", "findings": [], "residual_concerns": ["x", {}]}`, []string{`a.json:1:59: /residual_concerns/1: residual_concerns[1] is an object, but must be a string; write it in double quotes`}},
		{"a question that is not in a list", `{"agent": "a", "findings": [], "deferred_questions": "x"}`, []string{`a.json:1:54: /deferred_questions: deferred_questions is a string, but must be a list; write it in [ ]`}},
		{"a duplicate key", `{"agent": "a", "findings": [], "agent": "b"}`, []string{`a.json:1:32: /agent: "agent" occurs twice in one object; keep one of them`}},
		{"a duplicate key of a finding", envelope(`{` + needed + `, "severity": "info"}`), []string{`a.json:1:116: /findings/0/severity: "severity" occurs twice in one object; keep one of them`}},
		{"two values", envelope() + envelope(), []string{`a.json:1:31: there is something after the end of the JSON value; keep one value in the file and remove the rest`}},
		{"not UTF-8", envelope(`{"title": "` + "\xff" + `"}`), []string{`a.json:1:40: the file is not valid UTF-8 here; save it as UTF-8`}},
		{"endless nesting", envelope(strings.Repeat("[", 50_000)), []string{`a.json:1:59: /findings` + strings.Repeat("/0", 31) + `: values are nested more than 32 deep; nest them less deeply`}},
		{"nothing", ``, []string{`a.json:1:1: the file is empty; remove it, or write an empty list or object into it`}},
	}
	if sample.Full() {
		tests = append(tests, []envelopeTest{
			{"endless values", envelope("[0" + strings.Repeat(",0", 200_000) + "]"), []string{`a.json:1:400022: /findings/0/199996: the file has more than 200000 values; make it smaller`}},
			{"more than the limit", strings.Repeat(" ", MaxBytes) + "1", []string{`a.json:1:1: the file has more than 67108864 bytes; make it smaller`}},
		}...)
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			out, errs := Decode("a.json", []byte(test.text), nil)
			var got []string
			for _, e := range errs {
				got = append(got, e.Error())
			}
			for _, o := range out {
				for _, e := range o.Wrong {
					got = append(got, e.Error())
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("errors (-want +got):\n%s", diff)
			}
			if len(errs) > 0 && len(out) > 0 {
				t.Errorf("%d outputs count of a text that can't be used", len(out))
			}
		})
	}
}

// edited is a finding with one field changed or removed.
func edited(field, value string) string {
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal([]byte("{"+needed+"}"), &fields); err != nil {
		panic(err)
	}
	if fields[field] = json.RawMessage(value); value == "" {
		delete(fields, field)
	}
	b, err := json.Marshal(fields)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// A wrong finding is dropped and counted with the reason, and the others stay.
func TestWrongFindings(t *testing.T) {
	tests := []struct{ field, value, want string }{
		{"title", ``, `/findings/1: "title" is missing; add "title"`},
		{"title", `null`, `/findings/1: "title" is missing; add "title"`},
		{"title", `" \n"`, `/findings/1/title: title is empty; write something`},
		{"title", `["t"]`, `/findings/1/title: title is a list, but must be a string; write it in double quotes`},
		{"message", `""`, `/findings/1/message: message is empty; write something`},
		{"severity", ``, `/findings/1: "severity" is missing; add "severity"`},
		{"severity", `1`, `/findings/1/severity: severity is a number, but must be a string; write it in double quotes`},
		{"severity", `"huge"`, `/findings/1/severity: this is not a severity; use critical, major, warning or info`},
		{"severity", `"none"`, `/findings/1/severity: what is of no severity is no finding; leave it out, or use info`},
		{"severity", `"fail"`, `/findings/1/severity: this is not a severity; use critical, major, warning or info`},
		{"confidence", ``, `/findings/1: "confidence" is missing; add "confidence"`},
		{"confidence", `"0.9"`, `/findings/1/confidence: confidence is a string, but must be a number; write a number from 0 to 1, without quotes`},
		{"confidence", `1.01`, `/findings/1/confidence: confidence is 1.01; write a number from 0 to 1, without quotes`},
		{"confidence", `-0.1`, `/findings/1/confidence: confidence is -0.1; write a number from 0 to 1, without quotes`},
		{"path", ``, `/findings/1: the finding has no place; add "path" or "section"`},
		{"path", `" "`, `/findings/1: the finding has no place; add "path" or "section"`},
		{"path", `{}`, `/findings/1/path: path is an object, but must be a string; write it in double quotes`},
		{"start_line", `"3"`, `/findings/1/start_line: start_line is a string, but must be a number; write a whole number from 0 to 1000000000, without quotes`},
		{"start_line", `-1`, `/findings/1/start_line: start_line is -1; write a whole number from 0 to 1000000000, without quotes`},
		{"start_line", `1.5`, `/findings/1/start_line: start_line is 1.5; write a whole number from 0 to 1000000000, without quotes`},
		{"end_line", `1000000001`, `/findings/1/end_line: end_line is 1000000001; write a whole number from 0 to 1000000000, without quotes`},
		{"evidence", `"x"`, `/findings/1/evidence: evidence is a string, but must be a list; write it in [ ]`},
		{"evidence", `[1]`, `/findings/1/evidence/0: evidence[0] is a number, but must be a string; write it in double quotes`},
		{"action", `"delete"`, `/findings/1/action: "delete" is not an action; use add, remove, keep, change or none`},
		{"autofix_class", `"AUTO"`, `/findings/1/autofix_class: "AUTO" is not an autofix_class; use auto or present`},
		{"auto_claim", `"sure"`, `/findings/1/auto_claim: "sure" is not an auto_claim; use pattern, incorrect_fact, missing_control or incomplete_description`},
		{"finding_type", `true`, `/findings/1/finding_type: finding_type is true or false, but must be a string; use error or omission`},
		{"blocking", `"yes"`, `/findings/1/blocking: blocking is a string, but must be true or false; write true or false without quotes`},
	}
	for _, test := range tests {
		t.Run(test.field+" "+test.value, func(t *testing.T) {
			o := decode(t, envelope("{"+needed+"}", edited(test.field, test.value), "{"+needed+"}"))[0]
			if len(o.Findings) != 2 || len(o.Places) != 2 || o.Dropped.Count != 1 {
				t.Fatalf("%d findings at %d places, %d dropped", len(o.Findings), len(o.Places), o.Dropped.Count)
			}
			if _, got, _ := strings.Cut(o.Dropped.Why[0].Error(), " "); got != test.want {
				t.Errorf("dropped for\n%s, want\n%s", got, test.want)
			}
			if o.Places[1].Pointer != "/findings/2" {
				t.Errorf("the second kept finding is at %s", o.Places[1].Pointer)
			}
		})
	}
	for _, test := range []struct{ finding, want string }{
		{`7`, `/findings/0: a finding is a number, but must be an object; write it in { }`},
		{`null`, `/findings/0: a finding is null, but must be an object; write it in { }`},
		{`{` + needed + `, "start_line": 9, "end_line": 8}`, `/findings/0/end_line: end_line 8 comes before start_line 9; leave it out, or write the last of the lines`},
	} {
		o := decode(t, envelope(test.finding))[0]
		if _, got, _ := strings.Cut(o.Dropped.Why[0].Error(), " "); got != test.want || len(o.Findings) > 0 {
			t.Errorf("%s is dropped for %s, want %s", test.finding, got, test.want)
		}
	}
}

// An agent on the scale pass, warn, fail keeps its grades, wherever in the envelope its name is.
func TestGrades(t *testing.T) {
	var findings []string
	for _, s := range []string{"pass", "Warn", "fail", "major", "P3", "none", "good"} {
		findings = append(findings, edited("severity", `"`+s+`"`))
	}
	o := decode(t, `{"findings": [`+strings.Join(findings, ",")+`], "agent": "graded"}`)[0]
	var got []string
	for _, f := range o.Findings {
		got = append(got, string(f.Severity))
	}
	if diff := cmp.Diff([]string{"pass", "Warn", "fail", "major", "info"}, got); diff != "" || o.Dropped.Count != 2 {
		t.Errorf("%d dropped, grades (-want +got):\n%s", o.Dropped.Count, diff)
	}
	if got := o.Dropped.Why[1].Remedy; got != "use pass, warn or fail, or critical, major, warning or info" {
		t.Errorf("remedy %q", got)
	}
}

func TestUnknownFields(t *testing.T) {
	o := decode(t, `{"agent": "a", "findings": [{`+needed+`, "mood": 1, "tone": {"title": []}}, {"x": 1}], "cost": 3}`)[0]
	if o.Unknown.Count != 4 || o.Unknown.First.Pointer != "/cost" || o.Dropped.Count != 1 {
		t.Errorf("unknown: %+v", o.Unknown)
	}
}

// Lists of that name in other places are not findings.
func TestFindingsInOtherPlaces(t *testing.T) {
	o := decode(t, `{"agent": "a", "findings": [], "report": {"findings": [{`+needed+`}]}, "other": [{"findings": [{`+needed+`}]}]}`)[0]
	if len(o.Findings) != 0 || o.Dropped.Count != 0 || o.Unknown.Count != 2 {
		t.Errorf("%d findings, %d dropped, %d unknown", len(o.Findings), o.Dropped.Count, o.Unknown.Count)
	}
}

func TestTooManyFindings(t *testing.T) {
	sample.Variant(t)
	text := []byte(envelope("0" + strings.Repeat(",0", MaxFindings-1)))
	out, errs := Decode("a.json", text, nil)
	if len(errs) > 0 || out[0].Dropped.Count != MaxFindings || len(out[0].Dropped.Why) != maxListed {
		t.Fatalf("at the limit: %v", errs)
	}
	text = []byte(envelope("0" + strings.Repeat(",0", MaxFindings)))
	_, errs = Decode("a.json", text, nil)
	if want := `a.json:1:400029: /findings/200000: the file has more than 200000 findings; split it, or report less`; len(errs) != 1 || errs[0].Error() != want {
		t.Errorf("above it: %v, want %s", errs, want)
	}
}

// The fields that are read are those of the type.
func TestReadFieldsEqualTheType(t *testing.T) {
	var want []string
	for i := range reflect.TypeFor[pipeline.Finding]().NumField() {
		name, _, _ := strings.Cut(reflect.TypeFor[pipeline.Finding]().Field(i).Tag.Get("json"), ",")
		want = append(want, name)
	}
	got := slices.Clone(knownFields)
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("fields (-type +read):\n%s", diff)
	}
}

// Decode accepts any bytes. What it keeps fits the schema and can be read again unchanged.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		envelope(), envelope("{" + needed + "}"), "[" + envelope("{"+needed+"}", "{}", "1") + "]", `{"agent": "graded", "findings": [` + edited("severity", `"warn"`) + `]}`,
		envelope(`{` + needed + `, "start_line": 1, "end_line": 2, "evidence": ["e"], "blocking": true, "action": "add", "x": null}`), `{"findings": {}}`, `[[]]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		out, errs := Decode("a.json", text, nil)
		if len(errs) > 0 {
			if len(out) > 0 {
				t.Fatal("outputs beside errors")
			}
			return
		}
		for _, o := range out {
			if len(o.Findings) != len(o.Places) {
				t.Fatalf("%d findings at %d places", len(o.Findings), len(o.Places))
			}
			if len(o.Wrong) > 0 {
				continue // its caller uses only the agent's name
			}
			b, err := json.Marshal(o.AgentOutput)
			if err != nil {
				t.Fatal(err)
			}
			if err := config.ValidateData(config.SchemaAgentOutput, b); err != nil {
				t.Fatalf("%v in %s", err, b)
			}
			again, errs := Decode("a.json", b, nil)
			if len(errs) > 0 || again[0].Dropped.Count > 0 {
				t.Fatalf("the written output can't be read: %v", errs)
			}
			if diff := cmp.Diff(string(b), string(encoded(t, again[0].AgentOutput))); diff != "" {
				t.Fatalf("read again (-want +got):\n%s", diff)
			}
		}
	})
}

func encoded(t *testing.T, v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Counts of several files add up, and lists stay bounded.
func TestCountsAddUp(t *testing.T) {
	var d Dropped
	d.Add(Dropped{Count: 2, Why: make([]jsontree.Error, 2)})
	d.Add(Dropped{Count: 5 * maxListed, Why: make([]jsontree.Error, maxListed)})
	if d.Count != 5*maxListed+2 || len(d.Why) != maxListed {
		t.Errorf("%d dropped, %d listed", d.Count, len(d.Why))
	}
	var u Unknown
	u.Add(Unknown{})
	u.Add(Unknown{Count: 2, First: jsontree.Place{Line: 3}})
	u.Add(Unknown{Count: 1, First: jsontree.Place{Line: 9}})
	if u.Count != 3 || u.First.Line != 3 {
		t.Errorf("%d unknown, the first on line %d", u.Count, u.First.Line)
	}
}

// What Encode writes, Decode reads unchanged.
func TestEncode(t *testing.T) {
	want := decode(t, `{"agent": "sme", "model": "m1", "stage": "spec", "residual_concerns": ["Who pays?"], "deferred_questions": ["When?"], "findings": [
		{`+needed+`, "section": "Sums", "rule_id": "sum-01", "start_line": 3, "end_line": 4, "evidence": ["x", "<y>"], "blocking": true, "autofix_class": "auto", "suggested_fix": "n+1"},
		{"title": "t", "severity": "info", "message": "m", "confidence": 0, "section": "Scope"}]}`)[0].AgentOutput
	text, err := Encode(&want)
	if err != nil {
		t.Fatal(err)
	}
	got := decode(t, string(text))[0]
	if diff := cmp.Diff(want, got.AgentOutput); diff != "" || got.Unknown.Count > 0 {
		t.Errorf("(-want +got):\n%s\n%s", diff, text)
	}
	if strings.Contains(string(text), `"id"`) || strings.Contains(string(text), `""`) {
		t.Errorf("it has what is empty or filled in: %s", text)
	}
}
