package model

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/reviewgate/reviewgate/app/internal/invisible"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// wrong says how an output exceeds provable findings, or "".
func wrong(out pipeline.AgentOutput, facts *pipeline.PRFacts) string {
	want := pipeline.AgentOutput{Agent: "reviewer", Model: modelName, Stage: out.Stage}
	if diff := cmp.Diff(want, out, cmpopts.IgnoreFields(pipeline.AgentOutput{}, "Findings", "ResidualConcerns", "Voided")); diff != "" {
		return "the envelope: " + diff
	}
	if len(out.Findings) > maxFindings || len(out.ResidualConcerns) > min(maxConcerns, out.Voided) || out.Voided > maxClaims {
		return "too many findings"
	}
	for _, text := range out.ResidualConcerns {
		if !presentable(text) {
			return "a concern that can't be shown"
		}
	}
	for _, f := range out.Findings {
		if why := wrongFinding(f, facts, out.Stage); why != "" {
			text, _ := json.Marshal(f)
			return why + ": " + string(text)
		}
	}
	return ""
}

func presentable(text string) bool {
	hidden := func(r rune) bool {
		return r != '\n' && r != '\t' && invisible.Is(r) && r != 0xfe0f && r != 0xfe0e
	}
	return utf8.ValidString(text) && utf8.RuneCountInString(text) <= maxFix && !strings.ContainsFunc(text, hidden)
}

func wrongFinding(f pipeline.Finding, facts *pipeline.PRFacts, stage string) string {
	// A model may not set any of the following fields.
	if diff := cmp.Diff(pipeline.Finding{}, f, cmpopts.IgnoreFields(pipeline.Finding{},
		"Title", "Severity", "Message", "Confidence", "Path", "Section", "RuleID", "Category", "StartLine", "EndLine",
		"WhyItMatters", "Evidence", "Recommendation", "Action", "SuggestedFix", "FindingType", "AutoClaim", "Citation", "Blocking")); diff != "" {
		return "more than it may say"
	}
	if !f.Severity.Valid() || f.Confidence < 0 || f.Confidence > 1 || f.Title == "" || f.Message == "" ||
		f.RuleID != "" && f.RuleID != "rule-1" && f.RuleID != "rule-2" || len(f.Evidence) == 0 || len(f.Evidence) > maxQuotes {
		return "out of range"
	}
	for _, text := range append([]string{f.Title, f.Message, f.WhyItMatters, f.Recommendation, f.SuggestedFix, f.Category}, f.Evidence...) {
		if !presentable(text) {
			return "a text that can't be shown"
		}
	}
	if f.Path == "" {
		if stage != pipeline.ReviewStageSpec || !slices.Contains([]string{pipeline.SectionTitle, pipeline.SectionDescription, pipeline.SectionChange}, f.Section) || f.StartLine != 0 || f.SuggestedFix != "" {
			return "no place"
		}
		return ""
	}
	i := slices.IndexFunc(facts.Files, func(c pipeline.File) bool { return c.Path == f.Path })
	if i < 0 || f.StartLine < 1 || f.EndLine < f.StartLine {
		return "a place outside the file"
	}
	// This code is as simple as possible, so that it shares no mistake with the code that it
	// checks.
	for _, h := range facts.Files[i].Hunks {
		var after []string
		inside := false
		for _, l := range h.Lines {
			if l.Op != pipeline.LineRemoved {
				after = append(after, l.Text)
				inside = inside || l.New == f.StartLine
			}
		}
		text := strings.Join(strings.Fields(strings.Join(after, " ")), " ")
		if inside && !slices.ContainsFunc(strings.Split(f.Evidence[0], "\n"), func(line string) bool { return !strings.Contains(text, line) }) {
			return ""
		}
	}
	return "a quote that does not stand there"
}

// FuzzAnswer: any answer becomes either an error or findings that can be proved.
func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{
		none, answerOf(finding(nil)), "```json\n" + answerOf(finding(nil), finding(map[string]any{"start_line": 15})) + "\n```",
		answerOf(finding(map[string]any{"path": "", "section": "title", "evidence": []string{"A title of words"}})),
		answerOf(finding(map[string]any{"evidence": []string{"+12|\treturn total / len(c.items)", "}"}})),
		answerOf(finding(map[string]any{"blocking": true, "agent": "secrets", "severity": "P1"})), `{"findings":[{}]}`, "", "null", "[[[",
	} {
		f.Add(seed, false)
		f.Add(seed, true)
	}
	f.Fuzz(func(t *testing.T, answer string, spec bool) {
		facts := shop()
		facts.Title = "A title of words"
		if answer == "" {
			answer = " " // the script reads a blank as "no findings"
		}
		o := testOptions(&scripted{answer: answer})
		if spec {
			o.Stage = pipeline.ReviewStageSpec
		}
		got, err := New(o).Review(t.Context(), testTask(facts))
		var malformed *dispatch.MalformedError
		if err != nil && !errors.As(err, &malformed) {
			t.Fatalf("error %v", err)
		}
		if err != nil && len(got.Output.Findings) > 0 || len(got.Note) > 2000 {
			t.Fatalf("%d findings with %v, note %q", len(got.Output.Findings), err, got.Note)
		}
		if why := wrong(got.Output, facts); why != "" {
			t.Fatal(why)
		}
	})
}

// The same holds for answers that are nearly right, which are rare among random bytes.
func TestAnswersAreFindingsAtMost(t *testing.T) {
	facts := shop()
	facts.Title = "A title of words"
	texts := rapid.OneOf(rapid.SampledFrom([]string{
		"", "shop/cart.go", "shop/cart_test.go", "title", "issues", "return total / len(c.items)", "}", "critical", "P0", "none", "rule-1", "rule-9",
		"+12|\treturn total / len(c.items)", "approve", "\u202e", "A title of words", "func TestAverage(t *testing.T) {", "add", "omission", "```",
	}), rapid.String())
	values := rapid.Custom(func(t *rapid.T) any {
		switch rapid.IntRange(0, 5).Draw(t, "kind") {
		case 0:
			return rapid.Float64Range(-2, 2).Draw(t, "share")
		case 1:
			return rapid.IntRange(-2, 40).Draw(t, "number")
		case 2:
			return rapid.SliceOfN(texts, 0, 8).Draw(t, "texts")
		case 3:
			return rapid.Bool().Draw(t, "bool")
		}
		return texts.Draw(t, "text")
	})
	keys := rapid.SampledFrom(append([]string{
		"section", "blocking", "auto_claim", "citation", "autofix_class", "agent", "model", "id", "state", "gate_severity", "reasons", "decision",
	}, asked...))
	found := 0
	sample.Check(t, func(t *rapid.T) {
		var all []string
		for range rapid.IntRange(1, 4).Draw(t, "findings") {
			all = append(all, finding(rapid.MapOfN(keys, values, 0, 5).Draw(t, "with")))
		}
		o := testOptions(&scripted{answer: answerOf(all...)})
		if rapid.Bool().Draw(t, "spec") {
			o.Stage = pipeline.ReviewStageSpec
		}
		answer, err := New(o).Review(t.Context(), testTask(facts))
		var malformed *dispatch.MalformedError
		if err != nil && !errors.As(err, &malformed) {
			t.Fatal(err)
		}
		found += len(answer.Output.Findings)
		if why := wrong(answer.Output, facts); why != "" {
			t.Fatal(why)
		}
	})
	if found == 0 {
		t.Error("no answer had a finding, so the test proved nothing")
	}
}
