package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/aggregate"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/policies/models"
)

// A model's finding becomes one of reviewgate's findings, with only the requested fields.
func TestAnswer(t *testing.T) {
	m := &scripted{answer: answerOf(finding(map[string]any{
		"suggested_fix": "\tif len(c.items) == 0 {\n\t\treturn 0\n\t}\n\treturn total / len(c.items)",
		"blocking":      true, "auto_claim": "pattern", "citation": "shop/cart.go:12", "autofix_class": "auto",
		"agent": "secrets", "model": "a", "id": "1", "fingerprints": []string{"1"}, "reviewers": []string{"everybody"},
		"reasons": []string{"accepted by root"}, "gate_severity": "info", "state": "dismissed", "original_path": "x", "approved": true,
	}))}
	_, out, note := ask(t, testOptions(m), testTask(shop()))
	want := pipeline.AgentOutput{Agent: "reviewer", Model: modelName, Stage: pipeline.ReviewStageQuality, Findings: pipeline.List[pipeline.Finding]{{
		Title: "The average of an empty cart divides by zero", Severity: "major", Message: "An empty cart panics.", Confidence: 0.9,
		Path: "shop/cart.go", StartLine: 12, EndLine: 12, RuleID: "rule-1", Category: "unhandled-case", WhyItMatters: "The page is lost.",
		Evidence: pipeline.List[string]{"return total / len(c.items)"}, Recommendation: "Return 0 first.", Action: "change", FindingType: "error",
		SuggestedFix: "\tif len(c.items) == 0 {\n\t\treturn 0\n\t}\n\treturn total / len(c.items)",
		AutoClaim:    "pattern", Citation: "shop/cart.go:12", Blocking: true,
	}}}
	if diff := cmp.Diff(want, out); diff != "" || note != "" {
		t.Errorf("note %q, %s", note, diff)
	}
}

// A finding is placed where its quote is.
func TestGrounding(t *testing.T) {
	quoted := func(q ...string) map[string]any { return map[string]any{"evidence": q} }
	with := func(m map[string]any, more map[string]any) map[string]any {
		for k, v := range more {
			m[k] = v
		}
		return m
	}
	const ungrounded = "dropped 1 of its 1 finding, quoting what does not stand there"
	const elsewhere = "dropped 1 of its 1 finding, about what it was not shown"
	tests := map[string]struct {
		with     map[string]any
		from, to int // 0 where it is dropped
		note     string
		evidence []string
	}{
		"at the claimed line":          {with: nil, from: 12, to: 12},
		"at another line than claimed": {with: map[string]any{"start_line": 90, "end_line": 95}, from: 12, to: 12},
		"no lines":                     {with: map[string]any{"start_line": 0, "end_line": 0}, from: 12, to: 12},
		"more lines around":            {with: map[string]any{"start_line": 11, "end_line": 13}, from: 11, to: 13},
		"lines that are not shown":     {with: map[string]any{"start_line": 1, "end_line": 900}, from: 12, to: 12},
		"an end before the start":      {with: map[string]any{"start_line": 12, "end_line": 3}, from: 12, to: 12},
		"a context line":               {with: quoted("total := c.total()"), from: 11, to: 11},
		"other blanks":                 {with: quoted("  return   total /\tlen(c.items) "), from: 12, to: 12},
		"several lines":                {with: quoted("total := c.total()\n\treturn total / len(c.items)\n}"), from: 11, to: 13},
		"lines across a blank one":     {with: quoted("}\n\nfunc (c *Cart) Empty() bool"), from: 13, to: 15},
		"with signs and numbers":       {with: quoted(" 11|\ttotal := c.total()\n+12|\treturn total / len(c.items)"), from: 11, to: 12, evidence: []string{"total := c.total()\nreturn total / len(c.items)"}},
		"several quotes":               {with: quoted("return total / len(c.items)", "total := c.total()"), from: 12, to: 12},
		"one of two":                   {with: quoted("panic(everything)", "return total / len(c.items)"), from: 12, to: 12, evidence: []string{"return total / len(c.items)"}},
		"a dot before the path":        {with: map[string]any{"path": "./shop/cart.go"}, from: 12, to: 12},
		"nearest to the claimed line":  {with: with(quoted("len(c.items)"), map[string]any{"start_line": 15, "end_line": 15}), from: 15, to: 15},
		"no quote":                     {with: quoted(), note: ungrounded},
		"an invented quote":            {with: quoted("return total / 0"), note: ungrounded},
		"other case":                   {with: quoted("RETURN TOTAL / LEN(C.ITEMS)"), note: ungrounded},
		"a removed line":               {with: quoted("if len(c.items) == 0 {"), note: ungrounded},
		"a line of another file":       {with: quoted("func TestAverage(t *testing.T) {"), note: ungrounded},
		"a brace":                      {with: quoted("}"), note: ungrounded},
		"only signs":                   {with: quoted("{ } ) ( / = := *"), note: ungrounded},
		"a short quote":                {with: quoted("total"), note: ungrounded},
		"blanks":                       {with: quoted("            "), note: ungrounded},
		"nothing":                      {with: quoted("", ""), note: ungrounded},
		"another file":                 {with: map[string]any{"path": "shop/price.go"}, note: elsewhere},
		"no file":                      {with: map[string]any{"path": ""}, note: elsewhere},
		"a path out of the repository": {with: map[string]any{"path": "../../etc/passwd"}, note: elsewhere},
		"an absolute path":             {with: map[string]any{"path": "/shop/cart.go"}, note: elsewhere},
		"words that were not shown":    {with: map[string]any{"path": "", "section": "title", "evidence": []string{"A title"}}, note: elsewhere},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, out, note := ask(t, testOptions(&scripted{answer: answerOf(finding(tt.with))}), testTask(shop()))
			if tt.from == 0 {
				if len(out.Findings) > 0 || note != tt.note {
					t.Fatalf("findings %+v, note %q, want %q", out.Findings, note, tt.note)
				}
				return
			}
			if len(out.Findings) != 1 || note != "" {
				t.Fatalf("findings %+v, note %q", out.Findings, note)
			}
			f := out.Findings[0]
			if f.Path != "shop/cart.go" || f.StartLine != tt.from || f.EndLine != tt.to {
				t.Errorf("the finding is at %s:%d-%d, want %d-%d", f.Path, f.StartLine, f.EndLine, tt.from, tt.to)
			}
			if tt.evidence != nil && !slices.Equal(f.Evidence, tt.evidence) {
				t.Errorf("evidence %q", f.Evidence)
			}
		})
	}
}

// A quote that could be in any file proves nothing, even if it is in this one.
func TestQuotesThatProveNothing(t *testing.T) {
	facts := change(changed("a.go", "+}", "+}) ); } }, { ){ } )", "+return", "+if x {", "+total"))
	for _, quote := range []string{"}", "}) ); } }, { ){ } )", "return", "if x {", "total"} {
		_, out, note := ask(t, testOptions(&scripted{answer: answerOf(finding(map[string]any{"path": "a.go", "evidence": []string{quote}}))}), testTask(facts))
		if len(out.Findings) > 0 || note == "" {
			t.Errorf("%q proves %+v", quote, out.Findings)
		}
	}
}

// A quote that counts here also counts as a proof where a setting lets quotes prove findings.
func TestQuotesProve(t *testing.T) {
	cfg, _ := config.Load()
	cfg.Settings.Models.Blocking = models.BlockingGrounded
	for name, quote := range map[string]string{
		"a line": "return total / len(c.items)", "several": "total := c.total()\n\treturn total / len(c.items)\n}", "on one": "total := c.total() return total",
		"with signs": "+12|\treturn total / len(c.items)\n 13|}",
	} {
		facts := shop()
		_, out, _ := ask(t, testOptions(&scripted{answer: answerOf(finding(map[string]any{"evidence": []string{quote}}))}), testTask(facts))
		report := aggregate.Aggregate(aggregate.Input{
			Facts: facts, Classification: &pipeline.Classification{}, Config: cfg,
			Manifest: &pipeline.AgentManifest{Entries: pipeline.List[pipeline.ManifestEntry]{{Agent: "reviewer"}}},
			Results:  pipeline.List[pipeline.AgentResult]{{Agent: "reviewer", Model: modelName, Status: pipeline.AgentOK, Output: out}},
		})
		if len(report.Findings) != 1 || report.Findings[0].GateSeverity != pipeline.SeverityMajor {
			t.Errorf("%s: %+v", name, report.Findings)
		}
	}
}

// A fix belongs to the lines that were named, and is dropped without them.
func TestFixes(t *testing.T) {
	for name, tt := range map[string]struct {
		with map[string]any
		want string
	}{
		"where it belongs":  {nil, "\treturn 0"},
		"moved":             {map[string]any{"start_line": 11, "end_line": 11}, ""},
		"without lines":     {map[string]any{"start_line": 0, "end_line": 0}, ""},
		"too long":          {map[string]any{"suggested_fix": strings.Repeat("x", maxFix+1)}, ""},
		"hidden characters": {map[string]any{"suggested_fix": "return\u202e 0"}, ""},
		"a secret":          {map[string]any{"suggested_fix": "\treturn CANARY"}, ""},
	} {
		with := map[string]any{"suggested_fix": "\treturn 0"}
		for k, v := range tt.with {
			with[k] = v
		}
		o := testOptions(&scripted{answer: answerOf(finding(with))})
		o.Redact = func(s string) string { return strings.ReplaceAll(s, "CANARY", "[redacted]") }
		_, out, _ := ask(t, o, testTask(shop()))
		if len(out.Findings) != 1 || out.Findings[0].SuggestedFix != tt.want {
			t.Errorf("%s: %+v", name, out.Findings)
		}
	}
}

// The spec stage may base a finding on people's words, which must be quoted as well.
func TestWords(t *testing.T) {
	facts := shop()
	facts.Title, facts.Body = "Average of a cart", "An empty cart has the average 0."
	facts.Commits = pipeline.List[pipeline.Commit]{{Message: "Compute the average"}}
	for name, tt := range map[string]struct {
		path, section, quote string
		want                 string // section
		at                   string // path
	}{
		"description":              {"", "description", "An empty cart has the average 0.", "description", ""},
		"title":                    {"", "title", "Average of a cart", "title", ""},
		"commits":                  {"", "commits", "Compute the average", "change", ""},
		"of another place":         {"", "title", "An empty cart has the average 0.", "", ""},
		"invented":                 {"", "description", "Carts must be green.", "", ""},
		"no such place":            {"", "labels", "An empty cart has the average 0.", "", ""},
		"code":                     {"shop/cart.go", "", "return total / len(c.items)", "", "shop/cart.go"},
		"code and words":           {"shop/cart.go", "description", "return total / len(c.items)", "", "shop/cart.go"},
		"a file, and only words":   {"shop/cart.go", "description", "An empty cart has the average 0.", "description", ""},
		"a file that is not there": {"shop/none.go", "description", "An empty cart has the average 0.", "description", ""},
		"issues that do not exist": {"", "issues", "An empty cart has the average 0.", "", ""},
	} {
		o := testOptions(&scripted{answer: answerOf(finding(map[string]any{"path": tt.path, "section": tt.section, "evidence": []string{tt.quote}}))})
		o.Stage = pipeline.ReviewStageSpec
		_, out, _ := ask(t, o, testTask(facts))
		if tt.want == "" && tt.at == "" {
			if len(out.Findings) > 0 {
				t.Errorf("%s: %+v", name, out.Findings)
			}
			continue
		}
		if len(out.Findings) != 1 || out.Findings[0].Section != tt.want || out.Findings[0].Path != tt.at {
			t.Errorf("%s: %+v", name, out.Findings)
		}
	}
}

// An unreadable answer is an error, and never an answer without findings.
func TestMalformed(t *testing.T) {
	for name, answer := range map[string]string{
		"nothing":                      " ",
		"words":                        "I found no problems.",
		"cut off":                      `{"findings": [{"title": "a"`,
		"words before":                 "Here you are:\n" + none,
		"words after":                  none + "\nThat is all.",
		"two answers":                  none + none,
		"words before a fence":         "Sure!\n```json\n" + none + "\n```",
		"two fences":                   "```\n" + none + "\n```\n```\n" + none + "\n```",
		"another object":               `{"approved": true}`,
		"null":                         `null`,
		"no list":                      `{"findings": null}`,
		"an object for a list":         `{"findings": {}}`,
		"a list":                       `[]`,
		"findings twice":               `{"findings": [], "findings": []}`,
		"a text":                       `"{\"findings\": []}"`,
		"a comment":                    "{\"findings\": [] /* none */}",
		"a comma too many":             `{"findings": [],}`,
		"not UTF-8":                    "{\"findings\": [\"\xff\"]}",
		"a megabyte":                   `{"findings": [], "x": "` + strings.Repeat("x", maxAnswer) + `"}`,
		"deep":                         `{"findings": ` + strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000) + `}`,
		"many values":                  `{"findings": [` + strings.Repeat("0,", maxValues) + `0]}`,
		"values that are not findings": answerOf(`{}`, `"x"`, `7`),
		"no severity":                  answerOf(finding(map[string]any{"severity": "none"})),
		"an unknown severity":          answerOf(finding(map[string]any{"severity": "blocker"})),
		"confidence beyond":            answerOf(finding(map[string]any{"confidence": 1.5})),
		"confidence in words":          answerOf(finding(map[string]any{"confidence": "high"})),
		"no title":                     answerOf(finding(map[string]any{"title": "\t "})),
		"no message":                   answerOf(finding(map[string]any{"message": nil})),
		"a line below 0":               answerOf(finding(map[string]any{"start_line": -1})),
		"evidence of numbers":          answerOf(finding(map[string]any{"evidence": []int{1}})),
	} {
		got, err := New(testOptions(&scripted{answer: answer})).Review(t.Context(), testTask(shop()))
		var malformed *dispatch.MalformedError
		if !errors.As(err, &malformed) || len(got.Output.Findings) > 0 {
			t.Errorf("%s: findings %+v, note %q, error %v", name, got.Output.Findings, got.Note, err)
		}
	}
}

// A fault in one finding does not drop the others.
func TestReadable(t *testing.T) {
	for name, tt := range map[string]struct {
		answer   string
		findings int
		note     string
	}{
		"nothing found":        {none, 0, ""},
		"a fence":              {"```json\n" + answerOf(finding(nil)) + "\n```\n", 1, ""},
		"unknown fields":       {`{"decision": "approve", "findings": [], "tool_calls": [{"name": "merge"}]}`, 0, ""},
		"one is not a finding": {answerOf(finding(nil), `{"title": "x"}`), 1, "dropped 1 of its 2 findings, without all that makes a finding"},
		"other spelling":       {answerOf(finding(map[string]any{"severity": "P0", "action": "rewrite", "finding_type": "bug", "category": "Not A Word!"})), 1, ""},
		"every possible fault": {answerOf(finding(nil), `{}`, finding(map[string]any{"path": "x"}), finding(map[string]any{"evidence": []string{"x"}})), 1,
			"dropped 1 of its 4 findings, quoting what does not stand there; dropped 1 of its 4 findings, about what it was not shown; dropped 1 of its 4 findings, without all that makes a finding"},
	} {
		_, out, note := ask(t, testOptions(&scripted{answer: tt.answer}), testTask(shop()))
		if len(out.Findings) != tt.findings || note != tt.note {
			t.Errorf("%s: %d findings, note %q", name, len(out.Findings), note)
		}
	}
}

// The number and the size of findings are limited, and the worst ones stay.
func TestAnswersAreBounded(t *testing.T) {
	var all []string
	for i := range 3 * maxFindings {
		severity := "info"
		if i%3 == 2 {
			severity = "critical"
		}
		all = append(all, finding(map[string]any{"severity": severity, "title": fmt.Sprint(i, strings.Repeat(" long", 100)),
			"message": strings.Repeat("é", 2100), "recommendation": strings.Repeat("x", 1100), "rule_id": "secrets-01",
			"evidence": slices.Repeat([]string{"return total / len(c.items)"}, 20), "category": strings.Repeat("x", 50)}))
	}
	_, out, note := ask(t, testOptions(&scripted{answer: answerOf(all...)}), testTask(shop()))
	if len(out.Findings) != maxFindings || note != "dropped 100 of its 150 findings, no worse than those that count" {
		t.Fatalf("%d findings, note %q", len(out.Findings), note)
	}
	for _, f := range out.Findings {
		if f.Severity != "critical" || len([]rune(f.Title)) > maxTitle || !strings.HasSuffix(f.Title, "…") || len([]rune(f.Message)) != maxMessage || len(f.Recommendation) > maxReason+2 ||
			len(f.Evidence) != maxQuotes || f.RuleID != "" || f.Category != "" {
			t.Fatalf("finding %+v", f)
		}
	}
}

// An answer with extremely many findings costs no more than one with many.
func TestEndlessAnswer(t *testing.T) {
	all := slices.Repeat([]string{finding(map[string]any{"evidence": []string{"stands nowhere at all"}})}, maxClaims)
	_, out, note := ask(t, testOptions(&scripted{answer: answerOf(append(all, finding(nil), finding(nil))...)}), testTask(shop()))
	if len(out.Findings) != 0 || note != "dropped 200 of its 202 findings, quoting what does not stand there; dropped 2 of its 202 findings, after the first 200" {
		t.Errorf("%d findings, note %q", len(out.Findings), note)
	}
	m := &scripted{answer: answerOf(append(slices.Repeat([]string{"{}"}, maxClaims), finding(nil))...)}
	_, err := New(testOptions(m)).Review(t.Context(), testTask(shop()))
	var malformed *dispatch.MalformedError
	if !errors.As(err, &malformed) {
		t.Errorf("the answer can't be read: %v", err)
	}
}

// A model's text is shown without invisible characters and secrets.
func TestFindingsAreClean(t *testing.T) {
	o := testOptions(&scripted{answer: answerOf(finding(map[string]any{"title": "a\nb\u202ec CANARY", "message": "x\x00y CANARY"}))})
	o.Redact = func(s string) string { return strings.ReplaceAll(s, "CANARY", "[redacted]") }
	_, out, _ := ask(t, o, testTask(shop()))
	if f := out.Findings[0]; f.Title != "a b[U+202E]c [redacted]" || f.Message != "x[U+0000]y [redacted]" {
		t.Errorf("%q, %q", f.Title, f.Message)
	}
}

// The answer's schema asks for all the fields of a finding and no others. An answer in this
// form can be read.
func TestSchema(t *testing.T) {
	fields := map[string]bool{}
	for f := range reflect.TypeFor[pipeline.Finding]().Fields() {
		fields[strings.Split(f.Tag.Get("json"), ",")[0]] = true
	}
	var answer struct {
		Required             []string `json:"required"`
		AdditionalProperties *bool    `json:"additionalProperties"`
		Properties           struct {
			Findings struct {
				Items struct {
					Required             []string                   `json:"required"`
					AdditionalProperties *bool                      `json:"additionalProperties"`
					Properties           map[string]json.RawMessage `json:"properties"`
				} `json:"items"`
			} `json:"findings"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(schema().JSON, &answer); err != nil {
		t.Fatal(err)
	}
	items := answer.Properties.Findings.Items
	if answer.AdditionalProperties == nil || *answer.AdditionalProperties || items.AdditionalProperties == nil || *items.AdditionalProperties ||
		!slices.Equal(answer.Required, []string{"findings"}) || len(items.Required) != len(items.Properties) {
		t.Errorf("%s", schema().JSON)
	}
	for name, s := range items.Properties {
		var known map[string]any
		if err := json.Unmarshal(s, &known); err != nil || known["type"] == nil || !fields[name] || !slices.Contains(items.Required, name) {
			t.Errorf("%s is %s", name, s)
		}
		for key := range known {
			if !slices.Contains([]string{"type", "enum", "description", "items"}, key) {
				t.Errorf("%s has %s, which not every API knows", name, key)
			}
		}
	}
	for _, name := range []string{"evidence", "message", "severity"} {
		if strings.Index(string(schema().JSON), `"`+name+`":`) > strings.Index(string(schema().JSON), `"confidence":`) {
			t.Errorf("the schema asks for %s after the judgement", name)
		}
	}
	for _, privilege := range []string{"autofix_class", "agent", "model", "state", "final", "gate_severity"} {
		if items.Properties[privilege] != nil {
			t.Errorf("the schema asks for %s", privilege)
		}
	}
	var severity struct {
		Enum []pipeline.Severity `json:"enum"`
	}
	text, _ := json.Marshal(simple("review-finding.json", definitions("review-finding.json")["properties"].(map[string]any)["severity"].(map[string]any)))
	if err := json.Unmarshal(text, &severity); err != nil || !slices.Equal(severity.Enum, pipeline.Severities()) {
		t.Errorf("severity is %s", text)
	}
	if err := config.ValidateData(config.SchemaReviewFinding, []byte(finding(nil))); err != nil {
		t.Errorf("the finding of these tests is not valid: %v", err)
	}
}

// A serious finding that can't be proved is reported as a concern, and its model does not
// count as passing the change.
func TestVoidedFindings(t *testing.T) {
	without := func(severity string) string {
		return finding(map[string]any{"severity": severity, "evidence": []string{"it does not stand there"}})
	}
	for name, tt := range map[string]struct {
		answer           string
		voided, concerns int
	}{
		"critical":              {answerOf(without("critical")), 1, 1},
		"major, elsewhere":      {answerOf(finding(map[string]any{"path": "none.go"})), 1, 1},
		"no severity at all":    {answerOf(finding(nil), finding(map[string]any{"severity": "huge"})), 1, 0},
		"a warning":             {answerOf(without("warning")), 0, 0},
		"a provable finding":    {answerOf(finding(nil)), 0, 0},
		"more than the maximum": {answerOf(slices.Repeat([]string{without("major")}, 9)...), 9, maxConcerns},
	} {
		answer, err := New(testOptions(&scripted{answer: tt.answer})).Review(t.Context(), testTask(shop()))
		if err != nil || answer.Output.Voided != tt.voided || len(answer.Output.ResidualConcerns) != tt.concerns {
			t.Errorf("%s: %d voided, %q, %v", name, answer.Output.Voided, answer.Output.ResidualConcerns, err)
		}
	}
}
