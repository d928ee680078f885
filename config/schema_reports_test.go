package config

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/reviewgate/reviewgate/pipeline/sample"
	"github.com/reviewgate/reviewgate/policies/reviewreport"
)

// The schema of review reports accepts exactly what the reader accepts, wherever a value is
// changed, added or left out.
func TestReviewReportsAgreeWithTheirSchema(t *testing.T) {
	const whole = `{
		"status": "SUCCESS", "agent": "spec-reviewer", "task_id": "t", "operation_type": "o", "summary": "s", "validation_checklist": {"a": true},
		"confidence": 0.5, "severity": "Minor", "execution_timestamp": "now",
		"success_evidence": {
			"quality_assessment": {"completeness_score": 0.5, "testability_score": 0.5, "clarity_score": 0.5, "pain_point_alignment": 0.5},
			"review_findings": {"recommendations": [{"priority": "p", "category": "c", "finding": "f", "recommendation": "r", "location": "l"}]},
			"validation_results": {"quality_threshold_met": true, "pain_point_aligned": true, "architecture_feasible": true}
		}}`
	values := []any{
		nil, true, "", " ", "text", "\u00a0", strings.Repeat("é", 100), strings.Repeat("é", 101), 0, 0.7, 1, 1.5, -1, []any{}, []any{1}, []any{map[string]any{}}, map[string]any{}, map[string]any{"x": 1},
		slices.Repeat([]any{map[string]any{}}, 500), slices.Repeat([]any{map[string]any{}}, 501),
	}
	accepted, refused := 0, 0
	one := func(t *rapid.T) {
		var doc any
		if err := json.Unmarshal([]byte(whole), &doc); err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(0, 2).Draw(t, "changes") {
			altered(t, doc, values)
		}
		text, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		r := reviewreport.Extract([]byte(reviewreport.Heading + "\n```json\n" + string(text) + "\n```\n"))
		invalid := ValidateData(SchemaReviewReportData, text)
		if r.Broken() != (invalid != nil) {
			t.Fatalf("the reader finds the problems %q and the schema the error %v in\n%s", r.Error, invalid, text)
		}
		if r.Broken() {
			refused++
			return
		}
		accepted++
		_, written, _ := strings.Cut(reviewreport.Write(&r), "```json\n")
		if err := ValidateData(SchemaReviewReportData, []byte(strings.TrimSuffix(written, "```"))); err != nil {
			t.Fatalf("the written report is not valid: %v\n%s", err, written)
		}
	}
	each := 5
	if !sample.Full() {
		each = 50 // there are few draws
	}
	sample.Check(t, func(t *rapid.T) {
		for range each {
			one(t)
		}
	})
	if accepted < 10 || refused < 10 {
		t.Errorf("%d were accepted, %d refused", accepted, refused)
	}
}

// altered adds a value somewhere in a document, or removes one.
func altered(t *rapid.T, doc any, values []any) {
	for {
		switch d := doc.(type) {
		case map[string]any:
			if len(d) == 0 {
				return
			}
			key := rapid.SampledFrom(slices.Sorted(maps.Keys(d))).Draw(t, "key")
			switch rapid.IntRange(0, 5).Draw(t, "what") {
			case 0:
				delete(d, key)
				return
			case 1:
				d[key] = rapid.SampledFrom(values).Draw(t, "value")
				return
			case 2:
				d["more"] = rapid.SampledFrom(values).Draw(t, "value")
				return
			}
			doc = d[key]
		case []any:
			if len(d) == 0 {
				return
			}
			doc = d[0]
		default:
			return
		}
	}
}
