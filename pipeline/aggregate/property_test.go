package aggregate

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/sample"
	"github.com/reviewgate/reviewgate/policies/models"
)

// reviewer reports findings: it is an agent, or an agent with a model in a stage.
type reviewer struct{ agent, model, stage string }

// staff are the reviewers in the property tests.
var staff = []reviewer{
	{"x", "", ""}, {"y", "", ""}, {"grader", "", ""}, {"reports", "", pipeline.ReviewStageSpec},
	{"spec", "a", pipeline.ReviewStageSpec}, {"spec", "b", pipeline.ReviewStageSpec},
	{"quality", "a", pipeline.ReviewStageQuality}, {"quality", "b", pipeline.ReviewStageQuality},
}

type outputs map[reviewer][]pipeline.Finding

// panel is the world with these outputs and the default settings.
func panel(o outputs) Input {
	in := world(nil)
	in.Config.Settings.Models.Blocking, in.Config.Settings.Models.HoldForPerson = models.BlockingAgreed, models.HoldCritical
	for _, r := range staff {
		if o[r] != nil {
			in.Results = append(in.Results, pipeline.AgentResult{
				Agent: r.agent, Model: r.model, Stage: r.stage, Status: pipeline.AgentOK, Output: pipeline.AgentOutput{Findings: o[r]},
			})
		}
	}
	return in
}

// drawFinding draws findings that often agree, touch and contradict one another.
func drawFinding(t *rapid.T) pipeline.Finding {
	f := pipeline.Finding{
		Title:      rapid.SampledFrom([]string{"T", "t!", "cache of users", "Cache of orders", "cache of all the many users", "U", ""}).Draw(t, "title"),
		Severity:   rapid.SampledFrom([]pipeline.Severity{"critical", "major", "warning", "info", "P1", "fail", "no"}).Draw(t, "severity"),
		Message:    rapid.SampledFrom([]string{"m", "n", "It is impossible.", "It is essential."}).Draw(t, "message"),
		Confidence: float64(rapid.IntRange(0, 20).Draw(t, "confidence")) / 20,
		RuleID:     rapid.SampledFrom([]string{"", "", "r1", "r2"}).Draw(t, "rule"),
		Path:       rapid.SampledFrom([]string{"a.go", "a.go", "b.go", "docs/plans/p.md", "z.go", ""}).Draw(t, "path"),
		StartLine:  rapid.IntRange(0, 5).Draw(t, "line"),
		Action:     rapid.SampledFrom([]pipeline.Action{"", "", "remove", "keep", "change"}).Draw(t, "action"),
		Category:   rapid.SampledFrom([]string{"c1", "c2", "scope"}).Draw(t, "category"),
		Blocking:   rapid.IntRange(0, 7).Draw(t, "blocking") == 0,
	}
	f.EndLine = f.StartLine + rapid.IntRange(0, 1).Draw(t, "more")
	if f.Path == "" || rapid.IntRange(0, 5).Draw(t, "sectioned") == 0 {
		f.Section = rapid.SampledFrom([]string{"description", "Title"}).Draw(t, "section")
	}
	if rapid.Bool().Draw(t, "fixed") {
		f.SuggestedFix, f.AutoClaim = "two()", "pattern"
		f.Citation = rapid.SampledFrom([]string{"a.go", "a.go:2", "best practice", "four"}).Draw(t, "citation")
		f.AutofixClass = rapid.SampledFrom([]pipeline.AutofixClass{"", "auto"}).Draw(t, "class")
	}
	return f
}

func drawn(t *rapid.T, most int) outputs {
	o := outputs{}
	for range rapid.IntRange(0, most).Draw(t, "n") {
		r := rapid.SampledFrom(staff).Draw(t, "reviewer")
		o[r] = append(o[r], drawFinding(t))
	}
	return o
}

func encoded(t *rapid.T, r pipeline.Report) string {
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestOrderOfInputDoesNotMatter(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		o := drawn(t, 14)
		want := encoded(t, Aggregate(panel(o)))
		for r, findings := range o {
			o[r] = rapid.Permutation(findings).Draw(t, "findings")
		}
		in := panel(o)
		in.Results = rapid.Permutation(in.Results).Draw(t, "results")
		if got := encoded(t, Aggregate(in)); got != want {
			t.Errorf("the order of the input changes the report:\n%s\n%s", want, got)
		}
	})
}

// For any input, the report fits its schema, and reading it gives the findings that were written.
func TestReportsFitTheirSchema(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		report := Aggregate(panel(drawn(t, 14)))
		text := []byte(encoded(t, report))
		if err := config.ValidateData("review-report", text); err != nil {
			t.Error(err)
		}
		var read pipeline.Report
		if err := json.Unmarshal(text, &read); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(report.Findings, read.Findings, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("findings (-written +read):\n%s", diff)
		}
	})
}

func TestInputIsNotChanged(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		in := panel(drawn(t, 14))
		before, _ := json.Marshal(in.Results)
		Aggregate(in)
		if after, _ := json.Marshal(in.Results); string(before) != string(after) {
			t.Errorf("input changed:\n%s\n%s", before, after)
		}
	})
}

// Every finding is in the report, merged into a finding there, dropped, below the gate, suppressed
// or discarded, and the coverage adds up.
func TestEveryFindingIsAccountedFor(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		o := drawn(t, 20)
		w := newWork(panel(o))
		w.run()
		r := w.report
		came, kept, residual, dropped, attributed := 0, 0, 0, 0, 0
		for _, f := range o {
			came += len(f)
		}
		for _, f := range w.findings {
			kept += len(f.each())
		}
		for _, f := range w.residuals {
			residual += len(f.each())
		}
		for _, c := range r.Coverage {
			dropped += c.Dropped
			attributed += c.Findings
			if c.Findings != c.Auto+c.Present {
				t.Errorf("coverage %+v does not add up", c)
			}
		}
		if sum := kept + dropped + residual + w.folded + len(r.Suppressed); sum != came {
			t.Errorf("%d findings, %d accounted for: in the report or merged %d, dropped %d, below the gate %d, part of others %d, suppressed %d",
				came, sum, kept, dropped, residual, w.folded, len(r.Suppressed))
		}
		if n := len(r.Findings); attributed != n || r.Counts.Total() != n {
			t.Errorf("%d findings, %d in the coverage, %d counted", n, attributed, r.Counts.Total())
		}
	})
}

// Every merged finding is as severe as the worst of its parts. Only a promoted finding may be less
// severe.
func TestMergedSeverityIsTheHighest(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		w := newWork(panel(drawn(t, 20)))
		w.run()
		for _, f := range w.findings {
			worst := pipeline.SeverityInfo
			for _, m := range f.each() {
				if m.Severity.Rank() > worst.Rank() {
					worst = m.Severity
				}
			}
			if clash(f.sides) && worst.Rank() < pipeline.SeverityMajor.Rank() {
				worst = pipeline.SeverityMajor
			}
			if f.Severity != worst {
				t.Errorf("severity %s, but the worst part has %s: %+v", f.Severity, worst, f.Finding)
			}
		}
	})
}

func plus(o, more outputs) outputs {
	sum := outputs{}
	maps.Copy(sum, o)
	for r, f := range more {
		sum[r] = slices.Concat(sum[r], f)
	}
	return sum
}

func TestAnotherFindingNeverUnblocks(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		o, more := drawn(t, 8), drawn(t, 6)
		before, after := Aggregate(panel(o)), Aggregate(panel(plus(o, more)))
		if before.Decision.Blocks() && !after.Decision.Blocks() {
			t.Errorf("%s became %s", before.Decision, after.Decision)
		}
	})
}

// withoutModels returns the outputs of all other reviewers.
func (o outputs) withoutModels() outputs {
	others := maps.Clone(o)
	maps.DeleteFunc(others, func(r reviewer, _ []pipeline.Finding) bool { return r.model != "" })
	return others
}

// Models' findings never make the gate milder.
func TestModelsOnlyTightenTheGate(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		all := drawn(t, 14)
		without := all.withoutModels()
		alone, with := Aggregate(panel(without)), Aggregate(panel(all))
		if with.Decision.Rank() < alone.Decision.Rank() {
			t.Errorf("%s without models, %s with them", alone.Decision, with.Decision)
		}
	})
}

// again takes the report's own findings as input, outside any stage. Agents can't claim that a
// finding is proven, so in a stage the result could differ.
func again(r pipeline.Report) Input {
	o := outputs{}
	for _, f := range r.Findings {
		k := slices.IndexFunc(staff, func(s reviewer) bool { return s.agent == f.Agent && s.model == f.Model })
		f.Fingerprints = slices.Clone(f.Fingerprints)
		o[staff[k]] = append(o[staff[k]], f)
	}
	in := panel(o)
	for i := range in.Results {
		in.Results[i].Stage = ""
	}
	for i := range in.Config.Agents {
		in.Config.Agents[i].Scale = "" // so that findings are not raised a second time
	}
	return in
}

// lasting returns the parts of findings that stay the same when the findings are input again.
// Agents can't claim who agreed, what was done to a finding, or what is proven. The position among
// equal findings, which is part of the fingerprint, changes when they are merged.
func lasting(r pipeline.Report) []pipeline.Finding {
	var out []pipeline.Finding
	for _, f := range r.Findings {
		f.ID, f.OriginalPath = "", ""
		f.Reviewers, f.Reasons, f.Fingerprints, f.Surroundings, f.Perspectives, f.GateSeverity = nil, nil, nil, nil, nil, ""
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b pipeline.Finding) int {
		return byContent(&item{Finding: a}, &item{Finding: b})
	})
	return out
}

// rounds draws outputs and makes n reports, each from the findings of the report before. It draws
// no case in which an agent contradicts itself at one place: findings that stay separate there
// merge with others once the findings between them are merged.
func rounds(t *rapid.T, n int, change func(*pipeline.Finding)) []pipeline.Report {
	one := rapid.Custom(func(t *rapid.T) []pipeline.Report {
		o := drawn(t, 14).withoutModels() // models' findings may agree with others once nearer findings are merged
		for _, findings := range o {
			for i := range findings {
				change(&findings[i])
			}
		}
		var all []pipeline.Report
		for in := panel(o); len(all) < n; in = again(all[len(all)-1]) {
			w := newWork(in)
			w.run()
			if contradictsItself(w) {
				return nil
			}
			all = append(all, w.report)
		}
		return all
	})
	return one.Filter(func(all []pipeline.Report) bool { return all != nil }).Draw(t, "rounds")
}

// contradictsItself reports whether findings stayed separate because they contradict one another
// and no other finding.
func contradictsItself(w *work) bool {
	apart := map[int]bool{}
	for _, f := range w.findings {
		if f.parts == nil && apart[f.cluster] {
			return true
		}
		apart[f.cluster] = true
	}
	return false
}

// A report's own findings as input give the same report. Promoted findings are left out here: they
// may equal the finding that confirmed them, and merge with it.
func TestAggregatingAgainChangesNothing(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		r := rounds(t, 2, func(f *pipeline.Finding) { f.Confidence = max(f.Confidence, 0.5) })
		if diff := cmp.Diff(lasting(r[0]), lasting(r[1])); diff != "" {
			t.Errorf("the second time (-first +second):\n%s", diff)
		}
	})
}

// With promoted findings, the second report may differ, and the third equals the second.
func TestAggregatingAgainSettles(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		r := rounds(t, 3, func(*pipeline.Finding) {})
		if diff := cmp.Diff(lasting(r[1]), lasting(r[2])); diff != "" {
			t.Errorf("the third time (-second +third):\n%s", diff)
		}
	})
}
