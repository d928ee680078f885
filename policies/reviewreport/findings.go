package reviewreport

import (
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/plaintext"
)

// CategoryOutcome is the category of a finding that says why work can't go on.
// Those of recommendations have the reports' own.
const CategoryOutcome = "review_report"

// sectionReports is the section of findings from reports that are no files.
const sectionReports = "review reports"

// The bounds of a finding.
const (
	maxTitle    = 120 // characters
	maxEvidence = 10  // broken reports that are quoted
)

// Findings are what an outcome means for the change that brings the reports: a
// finding that blocks where work can't go on, and one for each recommendation.
// They stand at the path of the report that they come from, or where it is no
// file, in a section.
//
// The outcome is that of [Aggregate] with the same reports and thresholds.
func Findings(o *pipeline.ReviewReportOutcome, reports []Report, t Thresholds) []pipeline.Finding {
	var list []pipeline.Finding
	if !o.Proceed {
		list = append(list, outcomeFinding(o, reports, decide(o.Phase, reports, t).culprit))
	}
	for _, rec := range recommendations(reports) {
		list = append(list, recommendedFinding(&rec, &reports[rec.report]))
	}
	return list
}

// FindingsAlone are what one report means that no file of the change holds, such as a
// model's about a document at the report's path: a finding that blocks where the report
// by itself would, and one for each recommendation. Their titles tell reviewers apart,
// so that two reports of one reviewer about one document, and no others, block as one.
func FindingsAlone(by *Reviewer, r *Report, t Thresholds) []pipeline.Finding {
	var list []pipeline.Finding
	if rationale, blocks := Alone(by.Phase, r, t); blocks {
		f := pipeline.Finding{
			Title: by.Blocks, Severity: pipeline.SeverityMajor, Confidence: 1, Path: r.Path, Category: CategoryOutcome,
			// The message is ours: of a reviewer's own words some would be taken for the side
			// that a finding takes, and set two reports that block against each other.
			Message: rationale + ".", WhyItMatters: r.Record.Summary, Action: pipeline.ActionChange,
			Recommendation: "Change the " + phaseNames[by.Phase] + " in what the review objects to.",
		}
		if rationale == r.Record.Summary { // a plan that isn't feasible
			f.Message = notFeasible + "."
		}
		if r.Record.is(SeverityCritical) {
			f.Severity = pipeline.SeverityCritical
		}
		list = append(list, f)
	}
	for _, rec := range recommendations([]Report{*r}) {
		f := recommendedFinding(&rec, r)
		f.Evidence = nil // what all of a reviewer's would have in common proves nothing of two of them
		list = append(list, f)
	}
	return list
}

// blockTitle is the title of the finding that says why work can't go on.
func blockTitle(o *pipeline.ReviewReportOutcome) string {
	return "Review reports block the " + phaseNames[o.Phase]
}

// outcomeFinding is about the report that blocks, or where one is missing,
// about the first of those that are there.
func outcomeFinding(o *pipeline.ReviewReportOutcome, reports []Report, culprit int) pipeline.Finding {
	f := pipeline.Finding{
		Title:      blockTitle(o),
		Severity:   pipeline.SeverityMajor,
		Message:    o.Rationale,
		Confidence: 1, // that they do is certain

		Category:       CategoryOutcome,
		Recommendation: "Change what the reports object to, and have it reviewed again.",
	}
	if len(o.Errors) > 0 {
		f.Recommendation = "Repair the report that can't be used: " + o.Errors[0].Recovery + "."
	}
	for i := range o.Errors[:min(len(o.Errors), maxEvidence)] {
		f.Evidence = append(f.Evidence, o.Errors[i].Source+": "+o.Errors[i].Error)
	}
	for i := range reports {
		if reports[i].Record.is(SeverityCritical) {
			f.Severity = pipeline.SeverityCritical
		}
	}
	if len(reports) > 0 {
		f.Path = reports[max(culprit, 0)].Path
	}
	if f.Path == "" {
		f.Section = sectionReports
	}
	return f
}

// recommendedFinding is as sure as the report that it comes from.
func recommendedFinding(rec *recommendation, from *Report) pipeline.Finding {
	f := pipeline.Finding{
		Title:      plaintext.CutLine(firstOfTexts(rec.Finding, rec.Recommendation.Recommendation, rec.Category, "Recommendation by "+rec.Reviewer), maxTitle),
		Severity:   recommendedSeverity(rec.Priority),
		Message:    firstOfTexts(rec.Finding, rec.Recommendation.Recommendation, "The report recommends a change without saying which."),
		Confidence: from.Record.confidence(),

		Path:           from.Path,
		Section:        strings.TrimSpace(rec.Location),
		Category:       rec.Category,
		Recommendation: rec.Recommendation.Recommendation,
		Evidence:       pipeline.List[string]{"review report by " + rec.Reviewer},
	}
	if f.Path == "" && f.Section == "" {
		f.Section = sectionReports
	}
	return f
}

// recommendedSeverity is what a recommendation counts. None blocks by itself: what the reports
// come to together decides that.
func recommendedSeverity(priority string) pipeline.Severity {
	if rank(priorities, priority) <= 1 { // high, medium
		return pipeline.SeverityWarning
	}
	return pipeline.SeverityInfo
}

// firstOfTexts is the first text that says something.
func firstOfTexts(texts ...string) string {
	for _, s := range texts {
		if strings.TrimSpace(s) != "" {
			return s
		}
	}
	return ""
}

var phaseNames = map[string]string{pipeline.PhaseSpec: "specification", pipeline.PhasePlan: "plan"}
