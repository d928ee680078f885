package reviewreport

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

func ptr(f float64) *float64 { return &f }

// good returns a report of an agent without any fault.
func good(agent string, change ...func(*Record)) Report {
	r := Record{Status: StatusSuccess, Agent: agent, Summary: "Summary of " + agent}
	r.SuccessEvidence.ValidationResults = ValidationResults{true, 1, 1}
	if agent == AgentSpecReviewer {
		r.SuccessEvidence.QualityAssessment = &QualityAssessment{ptr(0.9), ptr(0.9), ptr(0.9), ptr(0.9)}
	}
	for _, c := range change {
		c(&r)
	}
	return Report{Source: agent + ".md", Path: agent + ".md", Record: r}
}

func status(s string) func(*Record)     { return func(r *Record) { r.Status = s } }
func severity(s string) func(*Record)   { return func(r *Record) { r.Severity = s } }
func confident(f float64) func(*Record) { return func(r *Record) { r.Confidence = &f } }
func feasibleIs(yes bool) func(*Record) {
	return func(r *Record) { r.SuccessEvidence.ValidationResults.ArchitectureFeasible = degree(yes) }
}
func readyIs(yes bool) func(*Record) {
	return func(r *Record) { r.SuccessEvidence.ValidationResults.QualityThresholdMet = yes }
}
func saying(summary string) func(*Record) { return func(r *Record) { r.Summary = summary } }
func unusable() Report                    { return Read("broken.md", "broken.md", nil) }

func quality(set func(*QualityAssessment)) func(*Record) {
	return func(r *Record) { set(r.SuccessEvidence.QualityAssessment) }
}

func completenessIs(f *float64) func(*Record) {
	return quality(func(q *QualityAssessment) { q.CompletenessScore = f })
}
func testabilityIs(f *float64) func(*Record) {
	return quality(func(q *QualityAssessment) { q.TestabilityScore = f })
}
func clarityIs(f *float64) func(*Record) {
	return quality(func(q *QualityAssessment) { q.ClarityScore = f })
}
func alignmentIs(f *float64) func(*Record) {
	return quality(func(q *QualityAssessment) { q.PainPointAlignment = f })
}

// under and over return the doubles next to one.
func under(f float64) float64 { return math.Nextafter(f, -1) }

const (
	spec = AgentSpecReviewer
	pm   = AgentTechnicalPM
	arch = AgentArchitectureReview
)

func TestSpecGate(t *testing.T) {
	tests := []struct {
		name    string
		reports []Report
		want    string // empty if the reports may proceed
	}{
		{"all good", []Report{good(spec), good(pm), good(arch)}, ""},
		{"only the mandatory report", []Report{good(spec)}, ""},

		// 1: any status other than SUCCESS.
		{"failure", []Report{good(spec), good(pm, status("FAILURE"))}, "Review failures: technical-pm"},
		{"failures", []Report{good(spec, status("FAILURE")), good(pm), good(arch, status("FAILURE"))}, "Review failures: spec-reviewer, architecture-review"},
		{"partial", []Report{good(spec), good(pm, status("PARTIAL"))}, "Review failures: technical-pm"},
		{"another spelling of success", []Report{good(spec, status("success"))}, "Review failures: spec-reviewer"},
		{"broken", []Report{good(spec), unusable()}, "Review failures: unknown"},
		{"broken reports", []Report{unusable(), unusable(), good(spec)}, "Review failures: unknown, unknown"},
		{"failure goes before critical", []Report{good(spec, severity("Critical")), good(pm, status("FAILURE"))}, "Review failures: technical-pm"},

		// 2: any severity Critical.
		{"critical", []Report{good(spec), good(pm, severity("Critical"))}, "Critical issues from: technical-pm"},
		{"criticals", []Report{good(spec, severity("Critical")), good("x", severity("Critical"))}, "Critical issues from: spec-reviewer, x"},
		{"another spelling of critical", []Report{good(spec), good(pm, severity("CRITICAL"))}, "Critical issues from: technical-pm"},
		{"critical goes before confidence", []Report{good(spec, confident(0.1)), good(pm, severity("Critical"))}, "Critical issues from: technical-pm"},
		{"an unknown severity", []Report{good(spec, severity("Trivial"))}, ""},

		// 3: any confidence below 0.7; without one a report is sure.
		{"confidence 0.7", []Report{good(spec, confident(0.7))}, ""},
		{"confidence just below", []Report{good(spec, confident(under(0.7)))}, "Low confidence from: spec-reviewer"},
		{"low confidences", []Report{good(spec, confident(0)), good(pm), good(arch, confident(0.69))}, "Low confidence from: spec-reviewer, architecture-review"},
		{"confidence goes before completeness", []Report{good(spec, completenessIs(ptr(0))), good(pm, confident(0.5))}, "Low confidence from: technical-pm"},

		// 4: completeness, then testability.
		{"completeness 0.7", []Report{good(spec, completenessIs(ptr(0.7)))}, ""},
		{"completeness just below", []Report{good(spec, completenessIs(ptr(under(0.7))))}, "Completeness score below threshold (0.7)"},
		{"testability 0.7", []Report{good(spec, testabilityIs(ptr(0.7)))}, ""},
		{"testability just below", []Report{good(spec, testabilityIs(ptr(under(0.7))))}, "Testability score below threshold (0.7)"},
		{"both", []Report{good(spec, testabilityIs(ptr(0)), completenessIs(ptr(0)))}, "Completeness score below threshold (0.7)"},
		{"the first report's score", []Report{good(spec, testabilityIs(ptr(0))), good(spec, completenessIs(ptr(0)))}, "Testability score below threshold (0.7)"},
		{"the score of any spec-reviewer", []Report{good(spec), good(spec, completenessIs(ptr(0)))}, "Completeness score below threshold (0.7)"},
		{"not the scores of other agents", []Report{good(spec), good(pm, func(r *Record) { r.SuccessEvidence.QualityAssessment = &QualityAssessment{} })}, ""},
		{"no completeness", []Report{good(spec, completenessIs(nil))}, "Completeness score missing from: spec-reviewer"},
		{"no testability", []Report{good(spec, testabilityIs(nil))}, "Testability score missing from: spec-reviewer"},
		{"no assessment", []Report{good(spec, func(r *Record) { r.SuccessEvidence.QualityAssessment = nil })}, "Completeness score missing from: spec-reviewer"},

		// 5: clarity.
		{"clarity 0.6", []Report{good(spec, clarityIs(ptr(0.6)))}, ""},
		{"clarity just below", []Report{good(spec, clarityIs(ptr(under(0.6))))}, "Clarity score below threshold (0.6)"},
		{"testability goes before clarity", []Report{good(spec, clarityIs(ptr(0))), good(spec, testabilityIs(ptr(0)))}, "Testability score below threshold (0.7)"},
		{"no clarity", []Report{good(spec, clarityIs(nil))}, "Clarity score missing from: spec-reviewer"},

		// 6: more than three reports of severity Major.
		{"three majors", []Report{good(spec, severity("Major")), good("a", severity("Major")), good("b", severity("Major"))}, ""},
		{"four majors", []Report{good(spec, severity("Major")), good("a", severity("Major")), good("m"), good("b", severity("major")), good("c", severity("Major"))}, "Major issues from: spec-reviewer, a, b, c"},
		{"clarity goes before majors", []Report{good(spec, severity("Major"), clarityIs(ptr(0))), good("a", severity("Major")), good("b", severity("Major")), good("c", severity("Major"))}, "Clarity score below threshold (0.6)"},

		// Reports that the rules can't judge don't pass.
		{"no alignment", []Report{good(spec, alignmentIs(nil))}, "Pain point alignment score missing from: spec-reviewer"},
		{"alignment has no threshold", []Report{good(spec, alignmentIs(ptr(0)))}, ""},
		{"the mandatory report is missing", []Report{good(pm), good(arch)}, "Mandatory review missing: spec-reviewer"},
		{"the mandatory agent in another spelling", []Report{good("Spec-Reviewer")}, "Mandatory review missing: spec-reviewer"},
		{"no reports", nil, "Mandatory review missing: spec-reviewer"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := Aggregate(pipeline.PhaseSpec, test.reports, defaults)
			want := test.want
			if want == "" {
				want = "All reviews passed quality gates"
			}
			if got.Proceed != (test.want == "") || got.Rationale != want {
				t.Errorf("proceed %v: %q, want %q", got.Proceed, got.Rationale, want)
			}
		})
	}
}

func TestPlanGate(t *testing.T) {
	tests := []struct {
		name    string
		reports []Report
		proceed bool
		want    string
	}{
		{"feasible", []Report{good(arch)}, true, "Summary of architecture-review"},
		{"not feasible", []Report{good(arch, feasibleIs(false))}, false, "Summary of architecture-review"},
		{"feasible without a summary", []Report{good(arch, saying(" "))}, true, "Architecture is feasible"},
		{"not feasible without a summary", []Report{good(arch, feasibleIs(false), saying(""))}, false, "Architecture is not feasible"},
		{"all must consider it feasible", []Report{good(arch), good(arch, feasibleIs(false), saying("No."))}, false, "No."},
		{"only architecture-review decides", []Report{good(arch), good(pm, feasibleIs(false))}, true, "Summary of architecture-review"},
		{"no architecture-review", []Report{good(spec), good(pm)}, false, "Mandatory review missing: architecture-review"},
		{"no reports", nil, false, "Mandatory review missing: architecture-review"},
		{"rule 1", []Report{good(arch, status("FAILURE"))}, false, "Review failures: architecture-review"},
		{"rule 1, broken", []Report{good(arch), unusable()}, false, "Review failures: unknown"},
		{"rule 2", []Report{good(arch, severity("Critical"))}, false, "Critical issues from: architecture-review"},
		{"rule 3", []Report{good(arch, confident(under(0.7)))}, false, "Low confidence from: architecture-review"},
		{"rules 1 to 3 go first", []Report{good(arch, feasibleIs(false), confident(0))}, false, "Low confidence from: architecture-review"},
		{"rules 4 to 6 are the specification's", []Report{
			good(arch, severity("Major")), good(spec, severity("Major"), completenessIs(ptr(0)), clarityIs(nil)), good("a", severity("Major")), good("b", severity("Major")),
		}, true, "Summary of architecture-review"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := Aggregate(pipeline.PhasePlan, test.reports, defaults)
			if got.Proceed != test.proceed || got.Rationale != test.want {
				t.Errorf("proceed %v: %q, want %q", got.Proceed, got.Rationale, test.want)
			}
		})
	}
}

// Each threshold can be set, and its rationale names it.
func TestThresholds(t *testing.T) {
	tests := []struct {
		name    string
		set     func(*Thresholds)
		reports []Report
		want    string
	}{
		{"completeness", func(th *Thresholds) { th.CompletenessScore = 0.95 }, []Report{good(spec)}, "Completeness score below threshold (0.95)"},
		{"testability", func(th *Thresholds) { th.TestabilityScore = 1 }, []Report{good(spec)}, "Testability score below threshold (1)"},
		{"clarity", func(th *Thresholds) { th.ClarityScore = 0.91 }, []Report{good(spec)}, "Clarity score below threshold (0.91)"},
		{"clarity, lower", func(th *Thresholds) { th.ClarityScore = 0 }, []Report{good(spec, clarityIs(ptr(0)))}, passed},
		{"confidence", func(th *Thresholds) { th.ConfidenceLevel = 0.9 }, []Report{good(spec, confident(0.8))}, "Low confidence from: spec-reviewer"},
		{"confidence, lower", func(th *Thresholds) { th.ConfidenceLevel = 0.5 }, []Report{good(spec, confident(0.5))}, passed},
		{"criticals", func(th *Thresholds) { th.MaxCriticalIssues = 1 }, []Report{good(spec, severity("Critical"))}, passed},
		{"too many criticals", func(th *Thresholds) { th.MaxCriticalIssues = 1 }, []Report{good(spec, severity("Critical")), good(pm, severity("Critical"))}, "Critical issues from: spec-reviewer, technical-pm"},
		{"majors", func(th *Thresholds) { th.MaxMajorIssues = 0 }, []Report{good(spec, severity("Major"))}, "Major issues from: spec-reviewer"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			th := defaults
			test.set(&th)
			if got := Aggregate(pipeline.PhaseSpec, test.reports, th).Rationale; got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

func TestReadiness(t *testing.T) {
	tests := []struct {
		name    string
		reports []Report
		want    pipeline.Readiness
	}{
		{"all met", []Report{good(spec), good(pm)}, pipeline.Ready},
		{"one not met", []Report{good(spec), good(pm, readyIs(false))}, pipeline.Conditional},
		{"one not met, major", []Report{good(spec), good(pm, readyIs(false), severity("Major"))}, pipeline.Conditional},
		{"one critical", []Report{good(spec), good(arch, readyIs(false)), good(pm, readyIs(false), severity("Critical")), good("a", readyIs(false))}, pipeline.NotReady},
		{"critical, but all criteria are met", []Report{good(spec, severity("Critical"))}, pipeline.Ready},
		{"broken", []Report{good(spec), unusable()}, pipeline.Conditional},
		{"none", nil, pipeline.NotReady},
	}
	for _, test := range tests {
		if got := Aggregate(pipeline.PhaseSpec, test.reports, defaults).Readiness; got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

// Broken reports are listed with their faults, and the others are still read.
func TestBrokenReportsDoNotStopOthers(t *testing.T) {
	with := good(spec, func(r *Record) {
		r.SuccessEvidence.ReviewFindings.Recommendations = []Recommendation{{Priority: "High", Location: "A"}}
	})
	got := Aggregate(pipeline.PhaseSpec, []Report{unusable(), with, Read("b.md", "", []byte(section("{")))}, defaults)
	want := pipeline.ReviewReportOutcome{
		Phase: "spec", Proceed: false, Rationale: "Review failures: unknown, unknown", Readiness: pipeline.Conditional,
		QualityScores:   Scores([]Report{with}),
		Recommendations: pipeline.List[pipeline.Recommendation]{{Priority: "High", Location: "A", Reviewer: spec, Severity: "Minor"}},
		ReviewPaths:     pipeline.List[string]{"unknown", "spec-reviewer", "unknown"},
		Errors: pipeline.List[pipeline.ReviewReportError]{
			{Source: "broken.md", Error: missingSection, Recovery: recoverSection},
			{Source: "b.md", Error: "JSON parsing failed: line 5, column 1: the file ends in the middle of a value; close every string, bracket and brace", Recovery: recoverJSON},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Scores that can't be computed say why.
func TestNoScores(t *testing.T) {
	for want, reports := range map[string][]Report{
		"No spec-reviewer found": {good(pm), good(arch)},
		"No completeness_score in spec-reviewer's quality_assessment":   {good(spec, completenessIs(nil))},
		"No testability_score in spec-reviewer's quality_assessment":    {good(spec, testabilityIs(nil)), good(spec)},
		"No clarity_score in spec-reviewer's quality_assessment":        {good(spec, clarityIs(nil))},
		"No pain_point_alignment in spec-reviewer's quality_assessment": {good(spec, alignmentIs(nil))},
	} {
		if got := Scores(reports); got != (pipeline.QualityScores{Error: want}) {
			t.Errorf("%+v, want %s", got, want)
		}
	}
}

// reportsOf draws reports that vary in every field that counts.
func reportsOf(t *rapid.T) []Report {
	one := rapid.Custom(func(t *rapid.T) Report {
		if rapid.IntRange(0, 20).Draw(t, "broken") == 0 {
			return unusable()
		}
		scores := rapid.SampledFrom([]float64{0.5, under(0.6), 0.6, under(0.7), 0.7, 0.9, 1})
		r := good(rapid.SampledFrom([]string{spec, pm, arch, "other"}).Draw(t, "agent"),
			status(rapid.SampledFrom([]string{"SUCCESS", "SUCCESS", "SUCCESS", "FAILURE"}).Draw(t, "status")),
			severity(rapid.SampledFrom([]string{"", "Minor", "Major", "Critical", "x"}).Draw(t, "severity")),
			confident(scores.Draw(t, "confidence")))
		if q := r.Record.SuccessEvidence.QualityAssessment; q != nil {
			*q = QualityAssessment{ptr(scores.Draw(t, "c")), ptr(scores.Draw(t, "t")), ptr(scores.Draw(t, "cl")), ptr(scores.Draw(t, "p"))}
		}
		r.Record.SuccessEvidence.ReviewFindings.Recommendations = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Recommendation {
			return Recommendation{
				Priority: rapid.SampledFrom([]string{"High", "Medium", "Low", "", "HIGH", "odd"}).Draw(t, "priority"),
				Category: rapid.SampledFrom([]string{"clarity", "roi", "security", "odd"}).Draw(t, "category"),
				Location: rapid.SampledFrom([]string{"A", "B", "C", "D", "", " "}).Draw(t, "location"),
				Finding:  rapid.StringMatching("[a-z]{3}").Draw(t, "finding"),
			}
		}), 0, 5).Draw(t, "recommendations")
		return r
	})
	return rapid.SliceOfN(one, 0, 6).Draw(t, "reports")
}

// The order of reports changes only which agent a rationale names first, and no decision, score or
// readiness.
func TestOrderOfReportsDoesNotMatter(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		// The scores come from the first spec-reviewer, so with several their order would matter.
		reviewers := 0
		reports := slices.DeleteFunc(reportsOf(t), func(r Report) bool {
			if r.Record.Agent == spec {
				reviewers++
			}
			return r.Record.Agent == spec && reviewers > 1
		})
		phase := rapid.SampledFrom([]string{"spec", "plan"}).Draw(t, "phase")
		want := Aggregate(phase, reports, defaults)
		shuffled := slices.Clone(reports)
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		rng.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		got := Aggregate(phase, shuffled, defaults)
		if got.Proceed != want.Proceed || got.Readiness != want.Readiness {
			t.Fatalf("%v, %s; want %v, %s", got.Proceed, got.Readiness, want.Proceed, want.Readiness)
		}
		if diff := cmp.Diff(want.QualityScores, got.QualityScores); diff != "" {
			t.Fatal(diff)
		}
		if len(Recommendations(shuffled)) != len(Recommendations(reports)) {
			t.Fatal("the number of recommendations differs")
		}
	})
}

// Another report never turns a blocked specification into one that proceeds, unless it is the
// mandatory report.
func TestMoreReportsNeverLoosen(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		reports, more := reportsOf(t), reportsOf(t)
		for _, phase := range []string{"spec", "plan"} {
			before := Aggregate(phase, reports, defaults)
			after := Aggregate(phase, slices.Concat(reports, more), defaults)
			mandatory := map[string]string{"spec": spec, "plan": arch}[phase]
			if !before.Proceed && after.Proceed && firstOf(reports, mandatory) != nil {
				t.Fatalf("%s: %s, then %s", phase, before.Rationale, after.Rationale)
			}
		}
	})
}

// Recommendations are sorted by severity and priority. Each location has one recommendation, which
// is at the place of the first one for that location.
func TestRecommendationsAreOrdered(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		reports := reportsOf(t)
		got := Recommendations(reports)
		locations, blank := map[string]int{}, 0
		for _, r := range reports {
			for _, rec := range r.Record.SuccessEvidence.ReviewFindings.Recommendations {
				if rec.Location == "" || rec.Location == " " {
					blank++
					continue
				}
				locations[rec.Location]++
			}
		}
		if len(got) != len(locations)+blank {
			t.Fatalf("%d recommendations for %d locations and %d without one", len(got), len(locations), blank)
		}
		last := [2]int{}
		for _, r := range got {
			if locations[r.Location] > 1 {
				continue
			}
			at := [2]int{rank(severities, r.Severity), rank(priorities, r.Priority)}
			if slices.Compare(last[:], at[:]) > 0 {
				t.Fatalf("%v comes after %v", at, last)
			}
			last = at
		}
	})
}

// degree returns the degree that true or false stands for.
func degree(yes bool) Degree {
	if yes {
		return 1
	}
	return 0
}

// A reviewer can answer with a degree, which adds that share to the score. Any degree above 0
// counts as yes.
func TestDegrees(t *testing.T) {
	one := func(f float64) *float64 { return &f }
	reports := []Report{
		{Record: Record{Agent: AgentSpecReviewer, SuccessEvidence: Evidence{QualityAssessment: &QualityAssessment{one(1), one(1), one(1), one(1)}}}},
		{Record: Record{Agent: AgentTechnicalPM, SuccessEvidence: Evidence{ValidationResults: ValidationResults{PainPointAligned: 0.8}}}},
		{Record: Record{Agent: AgentArchitectureReview, SuccessEvidence: Evidence{ValidationResults: ValidationResults{ArchitectureFeasible: 0.5}}}},
	}
	// 0.7 + 0.8 x 0.15 + 0.5 x 0.15 is 0.895, but the nearest double is slightly less, so it is
	// rounded down.
	if s := Scores(reports); s.OverallScore != 0.89 || *s.Components.BusinessAlignment != 0.8 || *s.Components.TechnicalFeasibility != 0.5 {
		t.Errorf("%+v", s)
	}
	for degree, passes := range map[Degree]bool{0: false, 0.1: true, 1: true} {
		reports[2].Record.SuccessEvidence.ValidationResults.ArchitectureFeasible = degree
		if why, culprit := feasible(reports[2:], Thresholds{}); (why == "") != passes {
			t.Errorf("feasible to a degree of %v: %q, %d", degree, why, culprit)
		}
	}
}
