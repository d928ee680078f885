package aggregate

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/pipeline"
)

// compare sets one answer for all pairs of findings that a model would be asked to compare.
func compare(in Input, same bool) Input {
	row := pipeline.AgentResult{Agent: pipeline.Matcher, Model: "a", Status: pipeline.AgentOK}
	for _, p := range Undecided(in, 100, func(*Pair) bool { return true }) {
		row.Comparisons = append(row.Comparisons, pipeline.Comparison{One: p.OneKey, Other: p.OtherKey, Same: same})
	}
	in.Results = append(slices.Clip(in.Results), row)
	return in
}

// summary lists the findings of a report: title, who found it, and the severity that counts at the
// gate.
func summary(r pipeline.Report) string {
	var out []string
	for i := range r.Findings {
		f := &r.Findings[i]
		who := f.Attribution()
		if who == "" {
			who = f.Agent
		}
		out = append(out, fmt.Sprintf("%s: %s, %s", f.Title, who, f.GateSeverity))
	}
	slices.Sort(out)
	return strings.Join(out, "; ")
}

func TestAgree(t *testing.T) {
	at := func(line int, title string) pipeline.Finding { return finding("a.go", line, title, "major") }
	kind := func(f pipeline.Finding, category, quote string) pipeline.Finding {
		f.Category, f.Evidence = category, pipeline.List[string]{quote}
		return f
	}
	section := func(title, section string) pipeline.Finding {
		f := finding("", 0, title, "major")
		f.Section = section
		return f
	}
	const quote = "total := price * 100"
	for _, tt := range []struct {
		name string
		o    outputs
		told string // what a model answers about the pairs, or "" if no model was asked
		want string
	}{
		{"articles", outputs{qualityA: {at(2, "First page skips the first rows")}, qualityB: {at(2, "The first page skips the first rows")}}, "",
			"First page skips the first rows: both models, major"},
		{"half of the words of the shorter", outputs{qualityA: {at(2, "Rows skipped")}, qualityB: {at(4, "Page one loses ten rows of orders")}}, "",
			"Rows skipped: both models, major"},
		{"other words", outputs{qualityA: {at(2, "Rows skipped")}, qualityB: {at(2, "Page one is empty")}}, "",
			"Page one is empty: b only, warning; Rows skipped: a only, warning"},
		{"a category and a quote", outputs{qualityA: {kind(at(2, "Cents lost"), "precision-loss", quote)}, qualityB: {kind(at(2, "Float money"), "precision-loss", "  "+quote)}}, "",
			"Cents lost: both models, major"},
		{"a category and another quote", outputs{qualityA: {kind(at(2, "Cents lost"), "precision-loss", quote)}, qualityB: {kind(at(2, "Float money"), "precision-loss", "return total")}}, "",
			"Cents lost: a only, warning; Float money: b only, warning"},
		{"a catch-all and a quote", outputs{qualityA: {kind(at(2, "Cents lost"), "other", quote)}, qualityB: {kind(at(2, "Float money"), "other", quote)}}, "",
			"Cents lost: a only, warning; Float money: b only, warning"},
		{"a category that the list lacks", outputs{qualityA: {kind(at(2, "Cents lost"), "money", quote)}, qualityB: {kind(at(2, "Float money"), "money", quote)}}, "",
			"Cents lost: a only, warning; Float money: b only, warning"},
		{"a model says that they are the same", outputs{qualityA: {at(2, "Rows skipped")}, qualityB: {at(2, "Page one is empty")}}, "same",
			"Rows skipped: both models, major"},
		{"a model says that they are different", outputs{qualityA: {at(2, "Rows skipped")}, qualityB: {at(4, "Page one loses ten rows")}}, "different",
			"Page one loses ten rows: b only, warning; Rows skipped: a only, warning"},
		{"equal titles, so no model is asked", outputs{qualityA: {at(2, "Rows skipped")}, qualityB: {at(2, "Rows skipped!")}}, "different",
			"Rows skipped: both models, major"},
		{"one rule in different words", outputs{qualityA: {at(2, "Rows skipped")}, x: {ruledBy(at(2, "Offset from one"), "r1")}}, "same",
			"Offset from one: rule r1 and a, major"},
		{"one rule, found by an agent and both models", outputs{qualityA: {at(2, "Rows skipped")}, qualityB: {at(3, "Empty page")}, x: {ruledBy(at(2, "Offset from one"), "r1")}}, "same",
			"Offset from one: rule r1 and both models, major"},
		{"two agents without models", outputs{x: {at(2, "Rows skipped")}, y: {at(2, "The rows are skipped")}}, "",
			"Rows skipped: x, major; The rows are skipped: y, major"},
		{"two findings of one model stay two", outputs{qualityA: {at(2, "Rows skipped"), at(2, "Rows lost")}, qualityB: {at(2, "Rows skipped at the start")}}, "",
			"Rows lost: a only, major; Rows skipped: both models, major"},
		{"far apart", outputs{qualityA: {at(2, "Rows skipped")}, qualityB: {at(6, "Rows skipped at the start")}}, "same",
			"Rows skipped at the start: b only, warning; Rows skipped: a only, warning"},
		{"one section", outputs{
			qualityA: {section("No way back", "Plan")}, qualityB: {section("Rollback is missing", "plan:")},
		}, "same", "No way back: both models, major"},
	} {
		in := panel(tt.o)
		if tt.told != "" {
			in = compare(in, tt.told == "same")
		}
		if got := summary(Aggregate(in)); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// several makes an agent ask its model more than once: each list of findings is one more answer.
func several(in Input, r reviewer, answers ...[]pipeline.Finding) Input {
	for i, findings := range answers {
		in.Results = append(slices.Clip(in.Results), pipeline.AgentResult{
			Agent: r.agent, Model: r.model, Stage: r.stage, Run: i + 1, Status: pipeline.AgentOK,
			Output: pipeline.AgentOutput{Agent: r.agent, Model: r.model, Stage: r.stage, Findings: findings},
		})
	}
	return in
}

// Several answers of one model count as one voice: they become one finding and prove nothing.
// Another model that agrees with any of the answers is a second voice.
func TestOneModelAskedSeveralTimes(t *testing.T) {
	at := func(line int, title string) pipeline.Finding { return finding("a.go", line, title, "major") }
	again := [][]pipeline.Finding{{at(3, "Rows are skipped at the start")}, {at(2, "Skipped rows"), at(2, "Money is lost")}}
	for _, tt := range []struct {
		name string
		in   Input
		want string
	}{
		{"alone", several(panel(outputs{qualityA: {at(2, "Rows skipped")}}), qualityA, again...),
			"Money is lost: a only, warning; Rows skipped: a only, warning"},
		{"another model finds nothing", several(panel(outputs{qualityA: {at(2, "Rows skipped")}, qualityB: nil}), qualityA, again...),
			"Money is lost: a only, warning; Rows skipped: a only, warning"},
		{"another model agrees with the last", several(panel(outputs{qualityA: {at(2, "Rows skipped")}, qualityB: {at(2, "Lost money")}}), qualityA, again...),
			"Money is lost: both models, major; Rows skipped: a only, warning"},
		{"found only the second time", several(panel(outputs{qualityA: nil, qualityB: {at(2, "The rows are skipped")}}), qualityA, again...),
			"Money is lost: a only, warning; Skipped rows: both models, major"},
	} {
		r := Aggregate(tt.in)
		if got := summary(r); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
		for _, f := range r.Findings {
			if len(f.FoundBy) < 2 && f.Confidence != 0.9 {
				t.Errorf("%s: the confidence in %q is %.2f", tt.name, f.Title, f.Confidence)
			}
		}
		if c := r.Coverage[0]; c.Agent != "quality" || c.Model != "a" || c.Runs != 3 || c.Findings+c.Shared != 2 {
			t.Errorf("%s: coverage row %+v", tt.name, c)
		}
		if m := r.Models; m.Verdicts[0].Verdict != pipeline.VerdictFail || len(m.Verdicts) > 2 {
			t.Errorf("%s: %+v", tt.name, m.Verdicts)
		}
	}
	lost := several(panel(outputs{qualityA: nil}), qualityA, nil)
	lost.Results[len(lost.Results)-1].Status = pipeline.AgentFailed
	if v := Aggregate(lost).Models.Verdicts[0].Verdict; v != pipeline.VerdictUnknown {
		t.Errorf("one answer of the model is missing, and its verdict is %s", v)
	}
}

// Findings that agree become one. Fields that the surest finding leaves empty come from the others.
func TestAgreedFindingIsComplete(t *testing.T) {
	sure1, other := finding("a.go", 2, "Rows skipped", "warning"), finding("a.go", 3, "Rows are skipped", "major")
	sure1.Confidence, sure1.Recommendation, sure1.WhyItMatters, sure1.Category = 0.95, "", "", ""
	other.Confidence, other.Recommendation, other.WhyItMatters, other.Category = 0.7, "Start at zero.", "Customers miss orders.", "off-by-one"
	other.SuggestedFix, other.AutofixClass, other.AutoClaim = "offset := 0", pipeline.AutofixAuto, "incorrect_fact"
	r := Aggregate(panel(outputs{qualityA: {sure1}, qualityB: {other}}))
	if len(r.Findings) != 1 {
		t.Fatal(summary(r))
	}
	f := r.Findings[0]
	if f.Title != "Rows skipped" || f.Severity != "major" || f.Recommendation != "Start at zero." || f.WhyItMatters != "Customers miss orders." ||
		f.Category != "off-by-one" || f.SuggestedFix != "offset := 0" || f.StartLine != 3 || f.AutofixClass != pipeline.AutofixAuto || f.Confidence != 0.99 {
		t.Errorf("%+v", f)
	}
}

// A model is asked only about pairs that may be the same finding, and only if nothing else has
// decided that.
func TestUndecided(t *testing.T) {
	at := func(line int, title string, s pipeline.Severity) pipeline.Finding {
		return finding("a.go", line, title, s)
	}
	in := func(f pipeline.Finding, path string) pipeline.Finding { f.Path = path; return f }
	change := panel(outputs{
		qualityA: {at(2, "one", "info"), in(at(1, "two", "major"), "b.go"), at(2, "same", "info")},
		qualityB: {at(3, "three", "info"), in(at(3, "four", "info"), "b.go"), in(at(2, "five", "major"), "docs/plans/p.md"), at(2, "same", "info")},
		x:        {at(2, "six", "info"), in(at(1, "seven", "info"), "docs/plans/p.md")}, y: {in(at(1, "eight", "info"), "docs/plans/p.md")},
	})
	var got []string
	for _, p := range Undecided(change, 100, func(*Pair) bool { return true }) {
		titles := []string{p.One.Title, p.Other.Title}
		slices.Sort(titles)
		got = append(got, strings.Join(titles, "-"))
	}
	if got[0] != "four-two" {
		t.Errorf("the pair with the worst finding is not first: %v", got)
	}
	slices.Sort(got)
	if want := []string{"eight-five", "five-seven", "four-two", "one-same", "one-six", "one-three", "same-six", "same-six", "same-three", "six-three"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if n := len(Undecided(change, 3, func(*Pair) bool { return true })); n != 3 {
		t.Errorf("%d, want 3", n)
	}
	if n := len(Undecided(compare(change, false), 100, func(*Pair) bool { return true })); n != 0 {
		t.Errorf("a model would be asked again about %d pairs that were already compared", n)
	}
	if n := len(Undecided(panel(outputs{x: {at(2, "a", "major")}, y: {at(2, "b", "major")}}), 100, func(*Pair) bool { return true })); n != 0 {
		t.Errorf("a model would be asked about %d pairs that no model found", n)
	}
}

// A model's comparisons can't hide that two models report the same finding in the same words. They
// can't make the gate milder than it is without them.
func TestComparisonsCanNotHideAgreement(t *testing.T) {
	f := finding("a.go", 2, "Rows skipped", "major")
	in := panel(outputs{qualityA: {f}, qualityB: {f}, x: {finding("a.go", 2, "Offset from one", "major")}})
	for _, same := range []bool{true, false} {
		if r := Aggregate(compare(in, same)); !r.Decision.Blocks() || r.Counts.Major == 0 {
			t.Errorf("same = %v: decided %s: %s", same, r.Decision, summary(r))
		}
	}
}
