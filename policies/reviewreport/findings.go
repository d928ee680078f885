package reviewreport

import (
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/plaintext"
)

// CategoryOutcome is the category of a finding that says why work can't continue. Findings of
// recommendations have the categories in the reports.
const CategoryOutcome = "review_report"

// sectionReports is the section of findings from reports that are not files.
const sectionReports = "review reports"

// These are the limits of a finding.
const (
	maxTitle    = 120 // characters
	maxEvidence = 10  // broken reports that are quoted
)

// Findings returns the findings of an outcome for the change that contains the reports: one that
// blocks if work can't continue, and one for each recommendation. They are at the path of the
// report that they come from, or in a section if the report is not a file.
//
// The outcome must be that of [Aggregate] with the same reports and thresholds.
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

// FindingsAlone returns the findings of one report that is not in the change, such as a model's
// report on the document at the report's path: one that blocks if the report alone would block, and
// one for each recommendation. The titles differ between reviewers, so that only two reports of one
// reviewer on one document agree that it blocks.
func FindingsAlone(by *Reviewer, r *Report, t Thresholds) []pipeline.Finding {
	var list []pipeline.Finding
	if rationale, blocks := Alone(by.Phase, r, t); blocks {
		f := pipeline.Finding{
			Title: by.Blocks, Severity: pipeline.SeverityMajor, Confidence: 1, Path: r.Path, Category: CategoryOutcome,
			// The message has our own words. In the reviewer's words, the aggregator might see
			// sides of a contradiction and turn two reports that block against each other.
			Message: rationale + ".", WhyItMatters: r.Record.Summary, Action: pipeline.ActionChange,
			Recommendation: "Change the " + phaseNames[by.Phase] + " in what the review objects to.",
		}
		if rationale == r.Record.Summary { // a plan that is not feasible
			f.Message = notFeasible + "."
		}
		if r.Record.is(SeverityCritical) {
			f.Severity = pipeline.SeverityCritical
		}
		list = append(list, f)
	}
	for _, rec := range recommendations([]Report{*r}) {
		f := recommendedFinding(&rec, r)
		f.Evidence = nil // words that all findings of a reviewer have in common would not prove that two of them agree
		list = append(list, f)
	}
	return list
}

// blockTitle returns the title of the finding that says why work can't continue.
func blockTitle(o *pipeline.ReviewReportOutcome) string {
	return "Review reports block the " + phaseNames[o.Phase]
}

// outcomeFinding is at the report that blocks. If a report is missing, it is at the first report
// that exists.
func outcomeFinding(o *pipeline.ReviewReportOutcome, reports []Report, culprit int) pipeline.Finding {
	f := pipeline.Finding{
		Title:      blockTitle(o),
		Severity:   pipeline.SeverityMajor,
		Message:    o.Rationale,
		Confidence: 1, // it is certain that they block

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

// recommendedFinding has the confidence of the report that it comes from.
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

// recommendedSeverity is the severity of a recommendation. No recommendation blocks by itself,
// because the outcome of all reports decides that.
func recommendedSeverity(priority string) pipeline.Severity {
	if rank(priorities, priority) <= 1 { // high, medium
		return pipeline.SeverityWarning
	}
	return pipeline.SeverityInfo
}

// firstOfTexts returns the first text that is not empty.
func firstOfTexts(texts ...string) string {
	for _, s := range texts {
		if strings.TrimSpace(s) != "" {
			return s
		}
	}
	return ""
}

var phaseNames = map[string]string{pipeline.PhaseSpec: "specification", pipeline.PhasePlan: "plan"}
