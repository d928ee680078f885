package pulls

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/pipeline/sample"
	"github.com/reviewgate/reviewgate/policies/reviewreport"
)

const (
	specDir = "docs/01-planning/specifications/007-stock/review/"
	planDir = "docs/02-plans/007-stock/review/"
)

type object = map[string]any

// specReport is a passing report by the spec-reviewer, with the given changes.
func specReport(change ...object) string {
	return reportBy("spec-reviewer", "spec_quality_review", object{
		"quality_assessment": object{"completeness_score": 0.9, "testability_score": 0.85, "clarity_score": 0.8, "pain_point_alignment": 0.9},
		"validation_results": object{"quality_threshold_met": true},
	}, change...)
}

func planReport(feasible bool, change ...object) string {
	summary := "Tokens would be bounded only by patience."
	if feasible {
		summary = "Nothing stands in the way."
	}
	evidence := object{"validation_results": object{"architecture_feasible": feasible, "quality_threshold_met": feasible}}
	return reportBy("architecture-review", "technical_review", evidence, append([]object{{"summary": summary}}, change...)...)
}

func businessReport(change ...object) string {
	return reportBy("technical-pm", "business_review", object{
		"validation_results": object{"pain_point_aligned": true, "quality_threshold_met": true},
	}, change...)
}

// reportBy is a review report with its text for people and its machine-readable section.
func reportBy(agent, operation string, evidence object, change ...object) string {
	record := object{
		"status": "SUCCESS", "agent": agent, "task_id": "review-1", "operation_type": operation, "summary": "Reviewed.",
		"validation_checklist": object{}, "success_evidence": evidence, "confidence": 0.9, "severity": "Minor",
		"execution_timestamp": "2025-10-06T10:00:00Z",
	}
	for _, c := range change {
		maps.Copy(record, c)
	}
	text, err := json.MarshalIndent(record, "", "  ")
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf("# Review of the stock service\n\nRead in full.\n\n%s\n\n```json\n%s\n```\n", reviewreport.Heading, text)
}

// scores is the evidence of a spec-reviewer with these scores.
func scores(completeness, testability, clarity float64) object {
	return object{"success_evidence": object{
		"quality_assessment": object{"completeness_score": completeness, "testability_score": testability, "clarity_score": clarity, "pain_point_alignment": 0.9},
	}}
}

func (w *world) openSpec(files ghtest.Files) *ghtest.PullRequest {
	w.Helper()
	all := ghtest.Files{"docs/01-planning/specifications/007-stock/SPEC.md": "# Stock\n\nOrders are read from the warehouse.\n"}
	maps.Copy(all, files)
	return w.Repo.OpenPR(ghtest.PR{Title: "docs: specify the stock service", Body: apptest.GoodBody, Files: all})
}

const (
	routeContents   = "GET /repos/{owner}/{repo}/contents/{path}"
	routeComments   = "GET /repos/{owner}/{repo}/issues/{issue_number}/comments"
	routePermission = "GET /repos/{owner}/{repo}/collaborators/{username}/permission"
)

// A specification that its reviewers pass gets a successful check, and the report names its
// scores. The reports are in the change's diff, so no file is read.
func TestSpecificationProceeds(t *testing.T) {
	t.Parallel()
	w := start(t)
	pr := w.openSpec(ghtest.Files{specDir + "spec-review-report.md": specReport(), specDir + "business-review-report.md": businessReport()})
	w.Idle()
	w.WantsCheck(pr, "success", "All reviews passed quality gates")
	w.Wants(pr, "success", "All reviews passed quality gates", "grade C (0.76): spec quality 0.87, business alignment 1.0, technical feasibility N/A")
	if n := w.CallsTo(routeContents, 0); n != 0 {
		t.Errorf("%d added files were read", n)
	}
}

// Each blocking rule is named in the comment and in the check.
func TestSpecificationIsBlocked(t *testing.T) {
	t.Parallel()
	major := object{"severity": "Major"}
	tests := map[string]struct {
		spec       string
		more       ghtest.Files
		conclusion string
		words      string
	}{
		"1 a review failed":       {specReport(object{"status": "FAILURE"}), nil, "action_required", "Review failures: spec-reviewer"},
		"2 critical issues":       {specReport(object{"severity": "Critical"}), nil, "failure", "Critical issues from: spec-reviewer"},
		"3 low confidence":        {specReport(object{"confidence": 0.69}), nil, "action_required", "Low confidence from: spec-reviewer"},
		"4 low completeness":      {specReport(scores(0.6, 0.9, 0.9)), nil, "action_required", "Completeness score below threshold (0.7)"},
		"4 low testability":       {specReport(scores(0.9, 0.6, 0.9)), nil, "action_required", "Testability score below threshold (0.7)"},
		"5 low clarity":           {specReport(scores(0.9, 0.9, 0.59)), nil, "action_required", "Clarity score below threshold (0.6)"},
		"6 too many major issues": {specReport(major), manyMajor(), "action_required", "Major issues from: "},
		"the report is broken":    {strings.Replace(specReport(), `"status"`, `status`, 1), nil, "action_required", "JSON parsing failed"},
		"the section is missing":  {"# Review\n\nAll is well.\n", nil, "action_required", "Review report missing machine-readable section"},
		"no mandatory reviewer":   {businessReport(), nil, "action_required", "Mandatory review missing: spec-reviewer"},
	}
	for name, tt := range sample.Map(t, 4, tests) {
		t.Run(name, func(t *testing.T) {
			w := start(t)
			files := ghtest.Files{specDir + "spec-review-report.md": tt.spec}
			maps.Copy(files, tt.more)
			pr := w.openSpec(files)
			w.Idle()
			w.Wants(pr, tt.conclusion, tt.words)
			w.WantsCheck(pr, tt.conclusion, tt.words)
		})
	}
}

func manyMajor() ghtest.Files {
	files := ghtest.Files{}
	for i := range 3 {
		files[fmt.Sprintf("%sother-%d-report.md", specDir, i)] = reportBy(fmt.Sprintf("other-%d", i), "business_review", object{}, object{"severity": "Major"})
	}
	return files
}

// A push that corrects the report makes the check pass. When the change only edits the
// report, the App reads the whole file at the head.
func TestReportFixedByPush(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	long := strings.Repeat("A line that no hunk shows.\n", 50)
	w.Repo.Commit("main", ghtest.Files{specDir + "spec-review-report.md": long + specReport(object{"status": "FAILURE"})}, "docs: review")
	pr := w.openSpec(ghtest.Files{specDir + "spec-review-report.md": long + specReport(object{"confidence": 0.5})})
	w.Idle()
	w.Wants(pr, "action_required", "Low confidence from: spec-reviewer")

	before := len(w.GH.Calls.All())
	pr.Push(ghtest.Files{specDir + "spec-review-report.md": long + specReport()}, "docs: review again")
	w.Idle()
	w.WantsCheck(pr, "success")
	if n := w.CallsTo(routeContents, before); n != 1 {
		t.Errorf("%d files were read, want only the report", n)
	}
}

func TestPlan(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	tests := map[string]struct {
		report     string
		conclusion string
		words      string
	}{
		"feasible":     {planReport(true), "success", ""},
		"not feasible": {planReport(false), "action_required", "Tokens would be bounded only by patience."},
		"not sure":     {planReport(true, object{"confidence": 0.3}), "action_required", "Low confidence from: architecture-review"},
		"not reviewed": {specReport(), "action_required", "Mandatory review missing: architecture-review"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := start(t)
			pr := w.Repo.OpenPR(ghtest.PR{Title: "docs: plan the stock service", Body: apptest.GoodBody, Files: ghtest.Files{
				"docs/02-plans/007-stock/PLAN.md":      "# Plan\n\nRead stock in one place.\n",
				planDir + "technical-review-report.md": tt.report,
			}})
			w.Idle()
			w.WantsCheck(pr, tt.conclusion, tt.words)
			w.Wants(pr, tt.conclusion, tt.words)
		})
	}
}

// A report in a comment counts while the comment exists, if its author has write permission.
// It belongs to the specification that the change is about. A comment of the App in the same
// form is not a report.
func TestReportInTrustedComment(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.Repo.Commit("main", ghtest.Files{apptest.SettingsPath: `{"comment": {"sections": ["report"]}}`}, "show the report for other tools")
	pr := w.openSpec(ghtest.Files{specDir + "spec-review-report.md": specReport()})
	w.Idle()
	w.WantsCheck(pr, "success")

	said := pr.Comment("alice", businessReport(object{"status": "FAILURE"}))
	w.Idle()
	w.Wants(pr, "action_required", "Review failures: technical-pm", "spec-reviewer, technical-pm", reviewreport.Heading)
	w.WantsCheck(pr, "action_required", "Review failures: technical-pm")

	pr.EditComment(said.ID, businessReport())
	w.Idle()
	w.WantsCheck(pr, "success")

	pr.EditComment(said.ID, businessReport(object{"severity": "Critical"}))
	w.Idle()
	w.WantsCheck(pr, "failure", "Critical issues from: technical-pm")

	pr.DeleteComment(said.ID)
	w.Idle()
	w.WantsCheck(pr, "success")
	if n := len(pr.AppComments()); n != 1 {
		t.Errorf("the App has %d comments", n)
	}
}

// A report by somebody without write permission does not count. It costs one call for the
// permission and no review.
func TestReportInUntrustedComment(t *testing.T) {
	t.Parallel()
	w := start(t)
	pr := w.openSpec(ghtest.Files{specDir + "spec-review-report.md": specReport()})
	w.Idle()
	before := len(w.GH.Calls.All())
	pr.Comment("bob", businessReport(object{"status": "FAILURE"}))
	w.Idle()
	if calls := w.GH.Calls.All()[before:]; len(calls) != 1 || calls[0].Route != routePermission {
		t.Errorf("the comment costs %v, want one call for its author's permission", calls)
	}

	pr.Push(ghtest.Files{"docs/01-planning/specifications/007-stock/NOTES.md": "# Notes\n"}, "docs: notes")
	w.Idle()
	w.Wants(pr, "success", "The review report in a comment by bob does not count")
}

// A comment by an untrusted reviewer does not replace the mandatory report.
func TestUntrustedReportDoesNotPass(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	pr := w.openSpec(ghtest.Files{specDir + "business-review-report.md": businessReport()})
	w.Idle()
	w.WantsCheck(pr, "action_required", "Mandatory review missing: spec-reviewer")
	pr.Comment("bob", specReport())
	pr.Push(ghtest.Files{"docs/01-planning/specifications/007-stock/NOTES.md": "# Notes\n"}, "docs: notes")
	w.Idle()
	w.WantsCheck(pr, "action_required", "Mandatory review missing: spec-reviewer")

	pr.Comment("alice", specReport())
	w.Idle()
	w.WantsCheck(pr, "success")
}

// If no agent reads reports, a comment with a report costs nothing.
func TestReportInCommentCostsNoCallsWithoutAgents(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	pr := w.Open(ghtest.Files{"store/client.go": apptest.Secure})
	w.Idle()
	if n := w.CallsTo(routeComments, 0) + w.CallsTo(routeContents, 0) + w.CallsTo(routePermission, 0); n != 0 {
		t.Errorf("%d calls for reports, though no agent reads them", n)
	}
	before := len(w.GH.Calls.All())
	pr.Comment("alice", specReport(object{"status": "FAILURE"}))
	w.Idle()
	if calls := w.GH.Calls.All()[before:]; len(calls) > 0 {
		t.Errorf("the comment costs %v", calls)
	}
}

// Comments with reports count for a merge group just as for the pull request that it names.
func TestReportsInMergeGroup(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	pr := w.openSpec(ghtest.Files{specDir + "business-review-report.md": businessReport()})
	pr.Comment("alice", specReport())
	w.Idle()
	w.WantsCheck(pr, "success")
	group := w.Repo.MergeGroup(pr)
	w.Idle()
	if c := w.Newest(group.CheckRuns()); c.Conclusion != "success" {
		t.Errorf("the group's check is %s: %s\n%s", c.Conclusion, c.Title, c.Summary)
	}
}

// Neither an unreadable report nor unreadable comments let the check pass.
func TestUnreadableReportNeverPasses(t *testing.T) {
	t.Parallel()
	for _, route := range sample.Of(t, 1, []string{routeContents, routeComments, routePermission}) {
		t.Run(route, func(t *testing.T) {
			w := start(t)
			w.Repo.Commit("main", ghtest.Files{specDir + "spec-review-report.md": specReport(object{"confidence": 0.8})}, "docs: review")
			defer w.GH.On(route, func(x *ghtest.Exchange) { x.Fail(403, "Resource not accessible by integration") })()
			pr := w.openSpec(ghtest.Files{specDir + "spec-review-report.md": specReport()})
			pr.Comment("alice", businessReport())
			w.Idle()
			w.WantsCheck(pr, "action_required", "review-reports", "Review incomplete")
		})
	}
}

// Hostile reports block. Each is named with its fault, and none hides the others.
func TestHostileReports(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	broken := map[string]string{
		"bidi":   strings.Replace(specReport(), `"Reviewed."`, `"\u202eReviewed\u202c", "summary": "<!-- -->"`, 1), // and a duplicate key
		"deep":   reviewreport.Heading + "\n\n```json\n" + strings.Repeat("[", 100_000) + "\n```\n",
		"fence":  reviewreport.Heading + "\n\n```json\n{",
		"number": strings.Replace(specReport(), `"confidence": 0.9`, `"confidence": "0.9"`, 1),
		"huge":   strings.Repeat("All is well. \n", 100_000) + specReport(),
		"nul":    specReport() + "\x00",
	}
	files := ghtest.Files{specDir + "spec-review-report.md": specReport()}
	for name, text := range broken {
		files[specDir+name+"-report.md"] = text
	}
	w := start(t)
	pr := w.openSpec(files)
	w.Idle()
	// GitHub shows no line of the report with a NUL, which is otherwise a good report.
	w.WantsCheck(pr, "action_required", "Review failures: unknown, unknown, unknown, unknown, unknown",
		`bidi-report.md: JSON parsing failed: line 26, column 38: /summary: "summary" occurs twice`, "deep-report.md: JSON parsing failed")
}

// A secret in a report is never shown, wherever the report is.
func TestSecretInReportIsNeverShown(t *testing.T) {
	t.Parallel()
	token := "ghp_" + "x7Kq2mVb9ZtR4sWc8YhJ1nDf6LgP3aEuT5oQ"
	leaky := object{"severity": "Major", "success_evidence": object{
		"quality_assessment": object{"completeness_score": 0.9, "testability_score": 0.9, "clarity_score": 0.9, "pain_point_alignment": 0.9},
		"review_findings": object{"recommendations": []object{{
			"priority": "High", "category": "security", "finding": "The token " + token + " works", "recommendation": "Revoke " + token, "location": "Access",
		}}},
	}}
	w := start(t)
	long := strings.Repeat("A line that no hunk shows.\n", 50)
	w.Repo.Commit("main", ghtest.Files{specDir + "spec-review-report.md": specReport(leaky) + long}, "docs: review")
	pr := w.openSpec(ghtest.Files{specDir + "spec-review-report.md": specReport(leaky) + long + "The end.\n"})
	pr.Comment("alice", businessReport(leaky))
	w.Idle()
	w.Wants(pr, "neutral", "redacted:github-pat")
	c := w.Check(pr)
	if all := fmt.Sprint(c, w.Comment(pr)); strings.Contains(all, token) {
		t.Errorf("the secret is shown:\n%s", all)
	}
}

// The App waits out a temporary failure. A report that could not be read at first does not
// make the review incomplete.
func TestReportIsReadLater(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	w.Repo.Commit("main", ghtest.Files{specDir + "spec-review-report.md": specReport(object{"confidence": 0.8})}, "docs: review")
	defer w.GH.On(routeContents, ghtest.First(12, func(x *ghtest.Exchange) { x.Fail(502, "bad gateway") }))()
	pr := w.openSpec(ghtest.Files{specDir + "spec-review-report.md": specReport()})
	w.Idle()
	w.Wants(pr, "success")
	if n := len(pr.CheckRuns()); n != 1 {
		t.Errorf("%d check runs, want one that waited for the report", n)
	}
}
