package reviewreport

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

func asking(list ...Recommendation) func(*Record) {
	return func(r *Record) { r.SuccessEvidence.ReviewFindings.Recommendations = list }
}

// rec is a recommendation that its finding text identifies.
func rec(priority, category, location, finding string) Recommendation {
	return Recommendation{priority, category, finding, "change " + finding, location}
}

func TestRecommendations(t *testing.T) {
	tests := []struct {
		name    string
		reports []Report
		want    string // the expected findings, in order
	}{
		{"none", []Report{good(spec), unusable()}, ""},
		{"severity first", []Report{
			good("a", severity("odd"), asking(rec("High", "", "1", "odd"))),
			good("b", asking(rec("High", "", "2", "minor"))),
			good("c", severity("Major"), asking(rec("Low", "", "3", "major"))),
			good("d", severity("Critical"), asking(rec("Low", "", "4", "critical"))),
		}, "critical major minor odd"},
		{"then priority", []Report{good("a", asking(
			rec("Someday", "", "1", "odd"), rec("Low", "", "2", "low"), rec("Medium", "", "3", "medium"), rec("High", "", "4", "high"), rec("", "", "5", "none"),
		))}, "high medium low odd none"},
		{"then their order in the reports", []Report{good("b", asking(rec("Low", "", "1", "b1"), rec("Low", "", "2", "b2"))), good("a", asking(rec("Low", "", "3", "a")))}, "b1 b2 a"},
		{"case does not matter", []Report{good("a", severity("MAJOR"), asking(rec("low", "", "1", "low"), rec("HIGH", "", "2", "high"))), good("b", asking(rec("High", "", "3", "minor")))}, "high low minor"},

		{"expertise decides", []Report{good(spec, asking(rec("High", "roi", "A", "spec"))), good(pm, asking(rec("Low", "roi", "A", "pm")))}, "pm"},
		{"expertise decides in a less severe report", []Report{good(spec, severity("Critical"), asking(rec("High", "security", "A", "spec"))), good(arch, asking(rec("Low", "security", "A", "arch")))}, "arch"},
		{"only the reviewer's own expertise decides", []Report{good(spec, asking(rec("Low", "security", "A", "spec"))), good(arch, asking(rec("High", "clarity", "A", "arch")))}, "arch"},
		{"then the higher priority", []Report{good(spec, severity("Major"), asking(rec("Low", "clarity", "A", "spec"))), good(pm, asking(rec("High", "business", "A", "pm")))}, "pm"},
		{"then the first", []Report{good(pm, asking(rec("Low", "roi", "A", "pm"))), good(spec, asking(rec("Low", "clarity", "A", "spec")))}, "pm"},
		{"any priority before an unknown one", []Report{good("a", severity("Major"), asking(rec("odd", "", "A", "odd"))), good("b", asking(rec("Low", "", "A", "low")))}, "low"},
		{"it has the place of the first one for its location", []Report{
			good("a", severity("Major"), asking(rec("Low", "", "A", "a1"), rec("Low", "", "B", "b1"))), good("b", asking(rec("High", "", "A", "a2"))),
		}, "a2 b1"},
		{"locations are compared as they are", []Report{good("a", asking(rec("Low", "", "A", "1"), rec("Low", "", "a", "2"), rec("Low", "", "A ", "3")))}, "1 2 3"},
		{"recommendations without a location are all different", []Report{good("a", asking(rec("Low", "", "", "1"), rec("Low", "", "", "2"), rec("Low", "", " ", "3"), rec("Low", "", " ", "4")))}, "1 2 3 4"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, r := range Recommendations(test.reports) {
				got = append(got, r.Finding)
			}
			if strings.Join(got, " ") != test.want {
				t.Errorf("%v, want %s", got, test.want)
			}
		})
	}
}

// Recommendations keep the report's spelling, and its severity has its default.
func TestRecommendationsKeepTheirSpelling(t *testing.T) {
	got := Recommendations([]Report{
		good(pm, severity("CRITICAL"), asking(Recommendation{"high", "Roi", "F", "R", "L"})),
		good(spec, asking(Recommendation{Location: "M"})),
	})
	want := pipeline.List[pipeline.Recommendation]{
		{Priority: "high", Category: "Roi", Finding: "F", Recommendation: "R", Location: "L", Reviewer: pm, Severity: "CRITICAL"},
		{Location: "M", Reviewer: spec, Severity: "Minor"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func findingsOf(phase string, reports ...Report) []pipeline.Finding {
	o := Aggregate(phase, reports, defaults)
	return Findings(&o, reports, defaults)
}

// A blocked outcome is one finding, at the report that blocks.
func TestOutcomeFinding(t *testing.T) {
	comment := good(spec, status("FAILURE"))
	comment.Path = ""
	tests := []struct {
		name     string
		phase    string
		reports  []Report
		severity pipeline.Severity
		path     string
		section  string
	}{
		{"proceeds", "spec", []Report{good(spec)}, "", "", ""},
		{"blocked", "spec", []Report{good(spec), good(pm, confident(0.1)), good(arch, confident(0.1))}, pipeline.SeverityMajor, "technical-pm.md", ""},
		{"critical", "spec", []Report{good(spec), good(pm, severity("Critical"))}, pipeline.SeverityCritical, "technical-pm.md", ""},
		{"blocked, and another is critical", "spec", []Report{good(spec, severity("critical")), good(pm, status("FAILURE"))}, pipeline.SeverityCritical, "technical-pm.md", ""},
		{"broken", "spec", []Report{good(spec), unusable()}, pipeline.SeverityMajor, "broken.md", ""},
		{"a score", "spec", []Report{good(pm), good(spec, clarityIs(ptr(0)))}, pipeline.SeverityMajor, "spec-reviewer.md", ""},
		{"majors", "spec", []Report{good(spec), good("a", severity("Major")), good("b", severity("Major")), good("c", severity("Major")), good("d", severity("Major"))}, pipeline.SeverityMajor, "a.md", ""},
		{"the mandatory one is missing", "spec", []Report{good(pm), good(arch)}, pipeline.SeverityMajor, "technical-pm.md", ""},
		{"not feasible", "plan", []Report{good(pm), good(arch, feasibleIs(false))}, pipeline.SeverityMajor, "architecture-review.md", ""},
		{"a comment", "spec", []Report{comment}, pipeline.SeverityMajor, "", "review reports"},
		{"no reports", "spec", nil, pipeline.SeverityMajor, "", "review reports"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := findingsOf(test.phase, test.reports...)
			if test.severity == "" {
				if len(got) > 0 {
					t.Errorf("%+v", got)
				}
				return
			}
			if len(got) != 1 {
				t.Fatalf("%d findings", len(got))
			}
			f := got[0]
			if f.Severity != test.severity || f.Path != test.path || f.Section != test.section || f.Category != CategoryOutcome || f.Confidence != 1 {
				t.Errorf("%+v", f)
			}
			if f.Message != Aggregate(test.phase, test.reports, defaults).Rationale {
				t.Errorf("message %q", f.Message)
			}
		})
	}
	if a, b := findingsOf("spec", good(pm))[0].Title, findingsOf("plan", good(pm))[0].Title; a != "Review reports block the specification" || b != "Review reports block the plan" {
		t.Errorf("titles %q and %q", a, b)
	}
	if got := findingsOf("spec", good(spec), unusable())[0].Evidence; len(got) != 1 || got[0] != "broken.md: "+missingSection {
		t.Errorf("evidence %q", got)
	}
}

// The severity of a recommendation depends on its priority. No recommendation blocks by itself,
// however severe its report is, because the outcome of all reports decides that.
func TestRecommendedFindings(t *testing.T) {
	tests := []struct {
		priority, severity string
		want               pipeline.Severity
	}{
		{"High", "Critical", pipeline.SeverityWarning}, {"High", "Major", pipeline.SeverityWarning}, {"high", "MAJOR", pipeline.SeverityWarning},
		{"High", "Minor", pipeline.SeverityWarning}, {"High", "", pipeline.SeverityWarning}, {"High", "odd", pipeline.SeverityWarning},
		{"Medium", "Critical", pipeline.SeverityWarning}, {"Medium", "Major", pipeline.SeverityWarning}, {"Medium", "Minor", pipeline.SeverityWarning},
		{"Low", "Critical", pipeline.SeverityInfo}, {"Low", "Major", pipeline.SeverityInfo}, {"Low", "Minor", pipeline.SeverityInfo},
		{"", "Critical", pipeline.SeverityInfo}, {"Someday", "Major", pipeline.SeverityInfo},
	}
	for _, test := range tests {
		report := good(spec, severity(test.severity), asking(rec(test.priority, "clarity", "Goals", "Vague")))
		got := recommendedFinding(&recommendations([]Report{report})[0], &report)
		if got.Severity != test.want {
			t.Errorf("priority %s in a report of severity %s: %s, want %s", test.priority, test.severity, got.Severity, test.want)
		}
	}

	comment := good(pm, asking(rec("Low", "roi", " ", strings.Repeat("long ", 50))))
	comment.Path = ""
	got := findingsOf("spec", good(spec, confident(0.8), asking(rec("High", "clarity", " Goals ", "Vague\n goals"), Recommendation{Recommendation: "Only this", Location: "2"}, Recommendation{Category: "style", Location: "3"}, Recommendation{})), comment)
	want := []pipeline.Finding{
		{
			Title: "Vague goals", Severity: pipeline.SeverityWarning, Message: "Vague\n goals", Confidence: 0.8, Path: "spec-reviewer.md", Section: "Goals",
			Category: "clarity", Recommendation: "change Vague\n goals", Evidence: pipeline.List[string]{"review report by spec-reviewer"},
		},
		{
			Title: strings.TrimSpace(strings.Repeat("long ", 24)) + "…", Severity: pipeline.SeverityInfo, Message: strings.Repeat("long ", 50), Confidence: 1, Section: "review reports",
			Category: "roi", Recommendation: "change " + strings.Repeat("long ", 50), Evidence: pipeline.List[string]{"review report by technical-pm"},
		},
		{
			Title: "Only this", Severity: pipeline.SeverityInfo, Message: "Only this", Confidence: 0.8, Path: "spec-reviewer.md", Section: "2",
			Recommendation: "Only this", Evidence: pipeline.List[string]{"review report by spec-reviewer"},
		},
		{
			Title: "style", Severity: pipeline.SeverityInfo, Message: "The report recommends a change without saying which.", Confidence: 0.8, Path: "spec-reviewer.md", Section: "3",
			Category: "style", Evidence: pipeline.List[string]{"review report by spec-reviewer"},
		},
		{
			Title: "Recommendation by spec-reviewer", Severity: pipeline.SeverityInfo, Message: "The report recommends a change without saying which.", Confidence: 0.8, Path: "spec-reviewer.md",
			Evidence: pipeline.List[string]{"review report by spec-reviewer"},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// For any reports, there are as many findings as the outcome makes. Each has a different identity
// and a place. A finding blocks if and only if the outcome does, or a serious report has an urgent
// recommendation.
func TestFindingsOfAnyReports(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		reports := reportsOf(t)
		phase := rapid.SampledFrom([]string{"spec", "plan"}).Draw(t, "phase")
		o := Aggregate(phase, reports, defaults)
		list := Findings(&o, reports, defaults)
		want := len(Recommendations(reports))
		if !o.Proceed {
			want++
		}
		if len(list) != want {
			t.Fatalf("%d findings, want %d", len(list), want)
		}
		for i, f := range list {
			if strings.TrimSpace(f.Title) == "" || utf8.RuneCountInString(f.Title) > maxTitle+1 || f.Message == "" || f.Path == "" && f.Section == "" || f.Confidence < 0 || f.Confidence > 1 {
				t.Fatalf("%+v", f)
			}
			outcome := i == 0 && !o.Proceed
			if f.Severity == pipeline.SeverityCritical && !outcome {
				t.Fatalf("a recommendation is critical: %+v", f)
			}
			if outcome && f.Severity.Rank() < pipeline.SeverityMajor.Rank() {
				t.Fatalf("a blocked outcome does not block: %+v", f)
			}
		}
	})
}
