package aggregate

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/models"
)

var (
	specA    = reviewer{"spec", "a", pipeline.ReviewStageSpec}
	specB    = reviewer{"spec", "b", pipeline.ReviewStageSpec}
	qualityA = reviewer{"quality", "a", pipeline.ReviewStageQuality}
	qualityB = reviewer{"quality", "b", pipeline.ReviewStageQuality}
	x        = reviewer{"x", "", ""}
	y        = reviewer{"y", "", ""}
)

func ruledBy(f pipeline.Finding, rule string) pipeline.Finding { f.RuleID = rule; return f }

func acts(f pipeline.Finding, a pipeline.Action) pipeline.Finding { f.Action = a; return f }

func sure(f pipeline.Finding, confidence float64) pipeline.Finding {
	f.Confidence = confidence
	return f
}

func TestProof(t *testing.T) {
	major := finding("a.go", 2, "T", pipeline.SeverityMajor)
	info := finding("a.go", 2, "T", pipeline.SeverityInfo)
	at := func(f pipeline.Finding, line int) pipeline.Finding { f.StartLine = line; return f }
	for _, tt := range []struct {
		name   string
		o      outputs
		proven bool // whether the worst finding is proven
	}{
		{"one model alone", outputs{qualityA: {major}}, false},
		{"one model in both stages", outputs{qualityA: {major}, specA: {info}}, false},
		{"two models", outputs{qualityA: {major}, qualityB: {info}}, true},
		{"two models, at the next line", outputs{qualityA: {major}, qualityB: {at(info, 3)}}, true},
		{"two models, three lines apart", outputs{qualityA: {major}, qualityB: {at(info, 5)}}, true},
		{"two models, elsewhere", outputs{qualityA: {major}, qualityB: {at(info, 6)}}, false},
		{"two models with a third finding between their lines", outputs{qualityA: {major, at(info, 3)}, qualityB: {at(info, 4)}}, true},
		{"another title", outputs{qualityA: {major}, qualityB: {finding("a.go", 2, "U", "info")}}, false},
		{"another title by the same rule", outputs{qualityA: {ruledBy(major, "r1")}, qualityB: {ruledBy(finding("a.go", 2, "U", "info"), "r1")}}, true},
		{"another title by another rule", outputs{qualityA: {ruledBy(major, "r1")}, qualityB: {ruledBy(finding("a.go", 2, "U", "info"), "r2")}}, false},
		{"an agent without a model", outputs{qualityA: {major}, x: {info}}, true},
		{"by the same rule", outputs{qualityA: {ruledBy(major, "r1")}, x: {ruledBy(finding("a.go", 2, "U", "info"), "r1")}}, true},
		{"no models", outputs{x: {major}}, true},
		{"an opposing model", outputs{qualityA: {acts(major, "remove")}, qualityB: {acts(info, "keep")}}, false},
		{"an agent, and an opposing model", outputs{x: {acts(major, "remove")}, qualityB: {acts(info, "keep")}}, true},
		{"one below the confidence gate", outputs{qualityA: {major}, qualityB: {sure(info, 0.4)}}, false},
	} {
		r := Aggregate(panel(tt.o))
		f := r.Findings[slices.IndexFunc(r.Findings, func(f pipeline.Finding) bool { return f.Severity == pipeline.SeverityMajor })]
		want := pipeline.SeverityWarning
		if tt.proven {
			want = pipeline.SeverityMajor
		}
		noted := slices.Contains(inWords(f.Reasons), "major, by one model only")
		if f.GateSeverity != want || noted == tt.proven || r.Decision.Blocks() != tt.proven {
			t.Errorf("%s: counts as %s, want %s (%s): %q", tt.name, f.GateSeverity, want, r.Decision, f.Reasons)
		}
	}
}

func TestGrounded(t *testing.T) {
	for _, tt := range []struct {
		name     string
		evidence []string
		grounded bool
	}{
		{"a line", []string{"  call(first,   second)"}, true},
		{"a part of one", []string{"first, second"}, true},
		{"in quotes", []string{"`call(first, second)`"}, true},
		{"two lines", []string{"call(first, second)\n\n\treturn nothing"}, true},
		{"two quotes", []string{"call(first", "return nothing"}, true},
		{"a removed line", []string{"was(here)"}, true},
		{"none", nil, false},
		{"empty", []string{" ", "``"}, false},
		{"one of two", []string{"call(first", "return everything"}, false},
		{"not there", []string{"call(second)"}, false},
		{"no word", []string{") {"}, false},
	} {
		f := finding("a.go", 1, "T", pipeline.SeverityMajor)
		f.Evidence = tt.evidence
		in := panel(outputs{qualityA: {f}})
		in.Facts.Files = append(in.Facts.Files, file("q.go", "if so {", "call(first, second) {", "\t\treturn   nothing", "was(here)"))
		in.Facts.Files[3].Hunks[0].Lines[3].Op = pipeline.LineRemoved
		if got := Aggregate(in).Findings[0].GateSeverity; got != pipeline.SeverityWarning {
			t.Errorf("%s: if the settings require agreement, it counts as %s", tt.name, got)
		}
		in.Config.Settings.Models.Blocking = models.BlockingGrounded
		if got := Aggregate(in).Findings[0].GateSeverity == pipeline.SeverityMajor; got != tt.grounded {
			t.Errorf("%s: grounded %v, want %v", tt.name, got, tt.grounded)
		}
	}
}

func TestHoldForAPerson(t *testing.T) {
	for _, tt := range []struct {
		hold     string
		severity pipeline.Severity
		held     bool
	}{
		{models.HoldCritical, pipeline.SeverityCritical, true}, {models.HoldCritical, pipeline.SeverityMajor, false},
		{models.HoldAlways, pipeline.SeverityMajor, true}, {models.HoldAlways, pipeline.SeverityWarning, false},
		{models.HoldNever, pipeline.SeverityCritical, false},
	} {
		in := panel(outputs{qualityA: {finding("a.go", 2, "T", tt.severity)}})
		in.Config.Settings.Models.HoldForPerson = tt.hold
		r := Aggregate(in)
		decision, condition := pipeline.DecisionPassWithWarnings, "warning > 0"
		if tt.held {
			decision, condition = pipeline.DecisionNeedsFixes, PersonDecides
		}
		if r.Decision != decision || r.Gate.Condition != condition || r.Counts.Warning != 1 {
			t.Errorf("%s, one model's %s: %s by %q, %+v", tt.hold, tt.severity, r.Decision, r.Gate.Condition, r.Counts)
		}
		if holds := slices.Contains(inWords(r.Findings[0].Reasons), "holds the gate: a person must decide"); holds != tt.held {
			t.Errorf("%s, %s: reasons %q", tt.hold, tt.severity, r.Findings[0].Reasons)
		}
	}
	// A worse or incomplete result takes precedence over the hold.
	o := outputs{qualityA: {finding("a.go", 2, "T", "critical")}, x: {finding("a.go", 5, "U", "critical")}}
	if r := Aggregate(panel(o)); r.Decision != pipeline.DecisionFail {
		t.Errorf("with a critical finding of an agent without a model: %s", r.Decision)
	}
	in := panel(outputs{qualityA: {finding("a.go", 2, "T", "critical")}})
	in.Facts.Incomplete = pipeline.List[pipeline.Incompleteness]{{What: "files", Gating: true}}
	if r := Aggregate(in); r.Gate.Condition != Incomplete {
		t.Errorf("incomplete and held: %q", r.Gate.Condition)
	}
}

func TestDiscard(t *testing.T) {
	quality := []pipeline.Finding{finding("b.go", 1, "Q", "major"), sure(finding("b.go", 3, "unsure", "info"), 0.3)}
	spec := func(s pipeline.Severity) []pipeline.Finding { return []pipeline.Finding{finding("a.go", 2, "T", s)} }
	reports := reviewer{"reports", "", pipeline.ReviewStageSpec}
	for _, tt := range []struct {
		name  string
		o     outputs
		hold  string
		fails bool
	}{
		{"both models fail it", outputs{specA: spec("major"), specB: spec("major")}, "", true},
		{"one model, major", outputs{specA: spec("major")}, "", false},
		{"one model, critical, not held", outputs{specA: spec("critical")}, models.HoldNever, false},
		{"one model, critical, held for a person", outputs{specA: spec("critical")}, models.HoldCritical, true},
		{"only warnings", outputs{specA: spec("warning"), specB: spec("warning")}, "", false},
		{"proven by an agent outside the stage", outputs{specA: spec("major"), x: spec("info")}, "", true},
		{"by an agent that is not a model", outputs{reports: spec("major")}, "", true},
		{"outside the stage", outputs{x: spec("critical")}, "", false},
		{"unsure", outputs{reports: {sure(spec("critical")[0], 0.4)}}, "", false},
	} {
		tt.o[qualityA] = quality
		tt.o[y] = []pipeline.Finding{finding("b.go", 4, "by no model", "warning")}
		in := panel(tt.o)
		in.Config.Settings.Models.HoldForPerson = tt.hold
		r := Aggregate(in)
		if tt.fails && !r.Decision.Blocks() {
			t.Errorf("%s: the stage fails, but the decision is %s", tt.name, r.Decision)
		}
		var discarded []string
		for _, s := range r.Suppressed {
			if s.Reason == "discarded" && s.Finding.State == pipeline.StateSuppressed && slices.Contains(inWords(s.Finding.Reasons), "discarded: the spec stage failed") {
				discarded = append(discarded, s.Finding.Title)
			}
		}
		row := r.Coverage[slices.IndexFunc(r.Coverage, func(c pipeline.Coverage) bool { return c.Agent == "quality" })]
		want, status := []string(nil), pipeline.AgentOK
		if tt.fails {
			want, status = []string{"Q", "unsure"}, pipeline.AgentDiscarded
		}
		if diff := cmp.Diff(want, discarded); diff != "" || row.Status != status || tt.fails && row.Findings != 0 {
			t.Errorf("%s: row %+v, discarded: %s", tt.name, row, diff)
		}
		if !slices.ContainsFunc(r.Findings, func(f pipeline.Finding) bool { return f.Agent == "y" }) {
			t.Errorf("%s: a finding of an agent that is not a model was discarded", tt.name)
		}
	}
}

// A finding that is discarded with the quality stage can still prove a spec finding.
func TestDiscardedFindingsStillProve(t *testing.T) {
	f := finding("a.go", 2, "T", "major")
	r := Aggregate(panel(outputs{specA: {f}, qualityB: {f}}))
	if len(r.Findings) != 1 || r.Findings[0].GateSeverity != pipeline.SeverityMajor || len(r.Suppressed) != 1 {
		t.Errorf("%+v, %+v", r.Findings, r.Suppressed)
	}
}

// A model that did not finish keeps its status, and a model that reviewed both stages keeps its
// row.
func TestDiscardLeavesOtherRows(t *testing.T) {
	f := finding("a.go", 2, "T", "major")
	both := reviewer{"spec", "a", pipeline.ReviewStageQuality}
	in := panel(outputs{specA: {f}, specB: {f}, qualityB: {}})
	in.Results[len(in.Results)-1].Status = pipeline.AgentTimedOut
	in.Results = append(in.Results, pipeline.AgentResult{Agent: both.agent, Model: both.model, Stage: both.stage, Status: pipeline.AgentOK})
	for _, c := range Aggregate(in).Coverage {
		if c.Agent == "quality" && c.Status != pipeline.AgentTimedOut || c.Agent == "spec" && c.Status != pipeline.AgentOK {
			t.Errorf("%+v", c)
		}
	}
}

func TestModelsReport(t *testing.T) {
	f := func(title string, line int, s pipeline.Severity) pipeline.Finding {
		return finding("a.go", line, title, s)
	}
	for _, tt := range []struct {
		name string
		o    outputs
		want string // verdicts, merge, confidence, label, decision
	}{
		{"nothing found", outputs{specA: {}, specB: {}, qualityA: {}, qualityB: {}}, "a PASS PASS PASS, b PASS PASS PASS; 0 0 0 0; 1.00 very high auto_approve"},
		{"minor findings, each by one model", outputs{specA: {}, specB: {}, qualityA: {f("T", 1, "info")}, qualityB: {f("U", 1, "warning"), f("V", 1, "info")}}, "a PASS PASS PASS, b PASS PASS PASS; 0 1 2 0; 0.85 high auto_approve_with_notes"},
		{"an agreed critical", outputs{qualityA: {f("T", 1, "critical")}, qualityB: {f("T", 2, "critical")}}, "a  FAIL FAIL, b  FAIL FAIL; 1 0 0 0; 0.90 high auto_reject"},
		{"an agreed critical of the spec stage", outputs{specA: {f("T", 1, "critical")}, specB: {f("T", 2, "major")}, qualityA: {f("Q", 1, "major")}, qualityB: {}}, "a FAIL FAIL FAIL, b FAIL PASS FAIL; 1 0 0 0; 0.90 high auto_reject"},
		{"a critical of the stronger model", outputs{qualityA: {}, qualityB: {f("T", 1, "critical")}}, "a  PASS PASS, b  FAIL FAIL; 0 0 1 0; 0.70 medium human"},
		{"a critical of the weaker model", outputs{qualityA: {f("T", 1, "critical")}, qualityB: {}}, "a  FAIL FAIL, b  PASS PASS; 0 1 0 0; 0.40 low human"},
		{"both fail the change for different reasons", outputs{qualityA: {f("T", 1, "major")}, qualityB: {f("U", 1, "major")}}, "a  FAIL FAIL, b  FAIL FAIL; 0 1 1 0; 0.60 medium human"},
		{"one problem reported three times counts once", outputs{qualityA: {f("T", 1, "info"), f("T", 2, "info")}, qualityB: {f("T", 3, "info")}}, "a  PASS PASS, b  PASS PASS; 1 0 0 0; 0.85 high auto_approve_with_notes"},
		{"a contradiction", outputs{qualityA: {acts(f("T", 1, "info"), "remove")}, qualityB: {acts(f("T", 1, "info"), "keep"), f("U", 5, "info")}}, "a  PASS PASS, b  PASS PASS; 0 0 1 1; 0.85 high auto_approve_with_notes"},
		{"a contradiction with an agent", outputs{qualityA: {acts(f("T", 1, "info"), "remove")}, x: {acts(f("T", 1, "info"), "keep")}, qualityB: {}}, "a  PASS PASS, b  PASS PASS; 0 1 0 0; 0.85 high auto_approve_with_notes"},
		{"findings of other agents", outputs{specA: {}, specB: {}, x: {f("T", 1, "critical")}}, "a PASS  PASS, b PASS  PASS; 0 0 0 0; 1.00 very high auto_approve"},
		{"one model", outputs{specA: {}, qualityA: {}}, "a PASS PASS PASS; 0 0 0 0; 0.85 high auto_approve"},
		{"one model, minor", outputs{qualityA: {f("T", 1, "info")}}, "a  PASS PASS; 0 1 0 0; 0.75 medium human"},
		{"a promoted finding", outputs{qualityA: {sure(f("T", 1, "critical"), 0.4)}, x: {f("U", 1, "info")}}, "a  PASS PASS; 0 0 0 0; 0.75 medium human"},
		{"no models", outputs{x: {f("T", 1, "info")}}, ""},
	} {
		if got := modelsLine(Aggregate(panel(tt.o)).Models); got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, tt.want)
		}
	}
}

func modelsLine(m *pipeline.ModelsReport) string {
	if m == nil {
		return ""
	}
	var verdicts []string
	for _, v := range m.Verdicts {
		verdicts = append(verdicts, fmt.Sprintf("%s %s %s %s", v.Model, v.Spec, v.Quality, v.Verdict))
	}
	return fmt.Sprintf("%s; %d %d %d %d; %.2f %s %s", strings.Join(verdicts, ", "),
		m.Merge.Agreed, m.Merge.AOnly, m.Merge.BOnly, m.Merge.Contradictions, m.Confidence, m.ConfidenceLabel, m.AutoDecision)
}

func TestModelsReportBySettings(t *testing.T) {
	o := outputs{qualityA: {finding("a.go", 1, "T", "critical")}, qualityB: {}}
	for _, tt := range []struct {
		name   string
		change func(*Input)
		want   string
	}{
		{"the first model is the stronger", func(in *Input) { in.Config.Settings.Models.Reviewers = []string{"b", "a"} }, "b  PASS PASS, a  FAIL FAIL; 0 0 1 0; 0.70 medium human"},
		{"one model is missing", func(in *Input) {
			in.Config.Settings.Models.Reviewers = []string{"b", "c"}
			in.Results = in.Results[1:]
		}, "b  PASS PASS, c   UNKNOWN; 0 0 0 0; 0.40 low human"},
		{"one model is missing, which single mode does not need", func(in *Input) {
			in.Config.Settings.Models.Strategy = models.StrategySingle
			in.Config.Settings.Models.Reviewers = []string{"b", "c"}
			in.Results = in.Results[1:]
		}, "b  PASS PASS; 0 0 0 0; 0.85 high auto_approve"},
		{"one model did not finish", func(in *Input) { in.Results[1].Status = pipeline.AgentTimedOut }, "a  FAIL FAIL, b  UNKNOWN UNKNOWN; 0 1 0 0; 0.40 low human"},
		{"a stage was left out", func(in *Input) {
			in.Results[1].Status = pipeline.AgentDiscarded
			in.Results = append(in.Results, pipeline.AgentResult{Agent: "spec", Model: "b", Stage: pipeline.ReviewStageSpec, Status: pipeline.AgentOK})
			in.Results = in.Results[1:]
		}, "b PASS  PASS; 0 0 0 0; 0.85 high auto_approve"},
	} {
		in := panel(o)
		tt.change(&in)
		if got := modelsLine(Aggregate(in).Models); got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, tt.want)
		}
	}
}
