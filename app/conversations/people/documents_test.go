package people

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/app/llm"
	"github.com/reviewgate/reviewgate/app/llm/llmtest"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/sample"
	"github.com/reviewgate/reviewgate/policies/reviewreport"
)

const (
	stockSpec   = "docs/01-planning/specifications/007-stock/SPEC.md"
	stockReport = "docs/01-planning/specifications/007-stock/review/spec-review-report.md"
	stockPlan   = "docs/02-plans/007-stock/PLAN.md"
	requirement = "# Stock\n\nFR-1: The page shows the stock of each article, fast.\n"
)

// reviewed is a model's review of a document, for any reviewer. change edits its fields.
func reviewed(change map[string]any) llmtest.Reply {
	checklist := map[string]any{}
	for _, agent := range []string{reviewreport.AgentSpecReviewer, reviewreport.AgentTechnicalPM, reviewreport.AgentArchitectureReview} {
		by, _ := reviewreport.ReviewerOf(agent)
		for _, name := range by.Checklist {
			checklist[name] = true
		}
	}
	answer := map[string]any{
		"validation_checklist": checklist, "summary": "It is impossible to test FR-1.", "severity": "Minor", "confidence": 0.9, "status": "SUCCESS",
		"success_evidence": map[string]any{
			"review_findings": map[string]any{"recommendations": []any{map[string]any{
				"location": "FR-1", "finding": "\"Fast\" has no figure.", "recommendation": "Name the latency.", "category": "testability", "priority": "High",
			}}},
			"quality_assessment": map[string]any{"completeness_score": 0.9, "testability_score": 0.8, "clarity_score": 0.9, "pain_point_alignment": 0.8},
			"validation_results": map[string]any{"quality_threshold_met": true, "pain_point_aligned": true, "architecture_feasible": true},
		},
	}
	for k, v := range change {
		if k == "architecture_feasible" {
			answer["success_evidence"].(map[string]any)["validation_results"].(map[string]any)[k] = v
			continue
		}
		answer[k] = v
	}
	text, err := json.Marshal(answer)
	if err != nil {
		panic(err)
	}
	return llmtest.Text(string(text)).Took(llm.Use{Input: 1000, Output: 100})
}

// asks reports whether the request comes from a reviewer of documents. field is a field of
// that reviewer's answer.
func asks(r *llmtest.Request, field string) bool {
	return strings.Contains(string(r.Schema), `"`+field+`"`)
}

const (
	asSpecReviewer = "quality_assessment"
	asManager      = "pain_point_aligned"
	asArchitect    = "architecture_feasible"
)

// withReviewers makes the App ask two models as the shipped reviewers of documents. Other
// agents get an answer without findings.
func withReviewers(t *testing.T, answer func(*llmtest.Request) llmtest.Reply) (*llmtest.Server, func(*apptest.World)) {
	models, change := apptest.WithModels(t, `{}`, func(r *llmtest.Request) llmtest.Reply {
		switch {
		case asks(r, "pairs"):
			return llmtest.Text(`{"pairs": [{"pair": 1, "one": "a", "other": "b", "same": false}]}`)
		case !asks(r, "validation_checklist"):
			return apptest.Found("info")
		}
		return answer(r)
	})
	return models, change
}

func (w *world) openDocuments(files ghtest.Files) *ghtest.PullRequest {
	w.Helper()
	pr := w.Repo.OpenPR(ghtest.PR{Title: "docs: specify the stock page", Body: apptest.GoodBody, Files: files})
	w.Idle()
	return pr
}

// askedAs counts the questions that one reviewer of documents asked each model.
func askedAs(models *llmtest.Server, field string) (by []string) {
	for _, r := range models.Requests() {
		if asks(r, "validation_checklist") && asks(r, field) {
			by = append(by, r.Model)
		}
	}
	slices.Sort(by)
	return by
}

// Two models review a specification as two reviewers. A finding that both models call
// blocking for one reviewer blocks once. A finding of one model alone is a warning, even if
// the other model blocks as another reviewer.
func TestModelsReviewASpecification(t *testing.T) {
	t.Parallel()
	small := func(r *llmtest.Request) bool { return r.Model == "small-1" }
	for name, tt := range map[string]struct {
		blocks     func(*llmtest.Request) bool
		how        map[string]any
		conclusion string
		agreed     int // findings that block
		says       []string
	}{
		"both block": {
			func(r *llmtest.Request) bool { return asks(r, asSpecReviewer) }, map[string]any{"confidence": 0.6}, "action_required", 1,
			[]string{"Requirements are not ready for planning", "Low confidence from: spec-reviewer", "both models"},
		},
		"both find it critical": {
			func(r *llmtest.Request) bool { return asks(r, asManager) }, map[string]any{"severity": "Critical"}, "failure", 1,
			[]string{"Business case is too weak", "Critical issues from: technical-pm", "both models"},
		},
		"one blocks": {
			func(r *llmtest.Request) bool { return asks(r, asSpecReviewer) && small(r) }, map[string]any{"confidence": 0.6}, "neutral", 0,
			[]string{"Requirements are not ready for planning", "by one model only"},
		},
		"one blocks as each reviewer": {
			func(r *llmtest.Request) bool { return asks(r, asSpecReviewer) == small(r) }, map[string]any{"confidence": 0.6}, "neutral", 0,
			[]string{"Requirements are not ready for planning", "Business case is too weak", "by one model only"},
		},
		"none blocks": {func(*llmtest.Request) bool { return false }, nil, "neutral", 0, []string{"Fast", "SPEC.md:3"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			models, change := withReviewers(t, func(r *llmtest.Request) llmtest.Reply {
				if tt.blocks(r) {
					return reviewed(tt.how)
				}
				// Of two blocking reviews, one may call essential what the other calls
				// impossible.
				return reviewed(map[string]any{"summary": "The figure is essential."})
			})
			w := startWith(t, ghtest.Options{WebhookSecret: apptest.Secret}, change)
			pr := w.openDocuments(ghtest.Files{stockSpec: requirement})
			w.Wants(pr, tt.conclusion, tt.says...)
			w.WantsCheck(pr, tt.conclusion)
			for _, field := range []string{asSpecReviewer, asManager} {
				if got := askedAs(models, field); !slices.Equal(got, []string{"big-1", "small-1"}) {
					t.Errorf("%s asked the models %q", field, got)
				}
			}
			if got := askedAs(models, asArchitect); len(got) > 0 {
				t.Errorf("the architect asked about a specification: %q", got)
			}
			report := w.Latest(pr).Review.Report
			blocking := 0
			for _, f := range report.Findings {
				if f.GateSeverity.Rank() >= pipeline.SeverityMajor.Rank() {
					blocking++
				}
			}
			if blocking != tt.agreed || len(report.ReviewReports) > 0 {
				t.Errorf("%d findings block, outcomes %+v", blocking, report.ReviewReports)
			}
			if m := models.Mistakes(); len(m) > 0 {
				t.Errorf("the APIs would refuse these requests: %q", m)
			}
		})
	}
}

// The architect reviews plans. What both models call infeasible blocks until the plan
// changes. A change that corrects it passes.
func TestModelsReviewAPlan(t *testing.T) {
	t.Parallel()
	models, change := withReviewers(t, func(r *llmtest.Request) llmtest.Reply {
		return reviewed(map[string]any{"architecture_feasible": strings.Contains(r.Text, "twice"), "summary": "Reads stop while it is built."})
	})
	w := startWith(t, ghtest.Options{WebhookSecret: apptest.Secret}, change)
	w.Repo.Commit("main", ghtest.Files{stockPlan: "# Plan\n" + strings.Repeat("\nA paragraph that no hunk shows.\n", 30) + "\nRead once.\n"}, "docs: plan")
	pr := w.openDocuments(ghtest.Files{stockPlan: "# Plan\n" + strings.Repeat("\nA paragraph that no hunk shows.\n", 30) + "\nRead stock in one place.\n"})
	w.Wants(pr, "action_required", "Architecture can't be built as described", "Architecture is not feasible", "Reads stop while it is built")
	if got := askedAs(models, asArchitect); !slices.Equal(got, []string{"big-1", "small-1"}) || len(askedAs(models, asSpecReviewer)) > 0 {
		t.Errorf("the architect asked the models %q", got)
	}
	for _, r := range models.Requests() {
		if asks(r, asArchitect) && strings.Count(r.Text, "A paragraph that no hunk shows.") != 30 {
			t.Errorf("the question does not contain the whole plan:\n%s", r.Text)
		}
	}
	pr.Push(ghtest.Files{stockPlan: "# Plan\n" + strings.Repeat("\nA paragraph that no hunk shows.\n", 30) + "\nRead stock in two places, twice.\n"}, "docs: build it beside the old one")
	w.Idle()
	w.Wants(pr, "neutral")
	if text := w.Ours(pr).Body; strings.Contains(text, "Architecture is not feasible") && !strings.Contains(text, "resolved") {
		t.Errorf("the corrected plan still blocks:\n%s", text)
	}
}

// A report in the change by the same reviewer replaces the models' reviews. The models are
// not asked, and the row says why. Other reviewers still ask the models.
func TestReportInTheChangeReplacesModels(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	models, change := withReviewers(t, func(*llmtest.Request) llmtest.Reply { return reviewed(nil) })
	w := startWith(t, ghtest.Options{WebhookSecret: apptest.Secret}, change)
	score, sure := 0.6, 0.9
	record := reviewreport.Record{
		Status: "SUCCESS", Agent: "spec-reviewer", OperationType: "spec_quality_review", Summary: "Reviewed by a person.", Confidence: &sure,
		SuccessEvidence: reviewreport.Evidence{QualityAssessment: &reviewreport.QualityAssessment{
			CompletenessScore: &score, TestabilityScore: &sure, ClarityScore: &sure, PainPointAlignment: &sure,
		}},
	}
	pr := w.openDocuments(ghtest.Files{stockSpec: requirement, stockReport: reviewreport.Write(&record) + "\n"})
	w.WantsCheck(pr, "action_required", "Completeness score below threshold", "the report of spec-reviewer in", "stands")
	if n := len(askedAs(models, asSpecReviewer)); n > 0 {
		t.Errorf("%d questions by the spec-reviewer", n)
	}
	if got := askedAs(models, asManager); len(got) != 2 {
		t.Errorf("the technical-pm asked the models %q", got)
	}
}

// An answer that is not a review is malformed and does not pass. What the other model blocks
// still counts.
func TestBrokenReviewOfASpecification(t *testing.T) {
	t.Parallel()
	for _, broken := range sample.Of(t, 1, []string{"Looks good to me!", `{"status": "SUCCESS", "summary": "All is well."}`}) {
		t.Run(broken, func(t *testing.T) {
			t.Parallel()
			_, change := withReviewers(t, func(r *llmtest.Request) llmtest.Reply {
				if r.Model == "big-1" {
					return llmtest.Text(broken)
				}
				return reviewed(map[string]any{"severity": "Critical"})
			})
			w := startWith(t, ghtest.Options{WebhookSecret: apptest.Secret}, change)
			pr := w.openDocuments(ghtest.Files{stockSpec: requirement})
			w.WantsCheck(pr, "action_required", "A person must decide", "gave an answer that could not be used")
			for _, agent := range []string{"spec-quality-reviewer", "technical-pm"} {
				if rows := w.Latest(pr).Review.Report.Coverage; !slices.ContainsFunc(rows, func(c pipeline.Coverage) bool {
					return c.Agent == agent && c.Model == "big" && c.Status == pipeline.AgentMalformed
				}) {
					t.Errorf("no row says that the answer to %s is malformed: %+v", agent, rows)
				}
			}
		})
	}
}

// A repository's own globs decide which files are specifications.
func TestSettingsDecideWhatIsASpecification(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	models, change := withReviewers(t, func(*llmtest.Request) llmtest.Reply { return reviewed(nil) })
	w := startWith(t, ghtest.Options{WebhookSecret: apptest.Secret}, change)
	w.Repo.Commit("main", ghtest.Files{config.RepositoryDir + "/" + config.FileComposition: `[{"id": "spec-documents-llm", "trigger": {"type": "path", "globs": ["rfcs/*.md"]}}]`}, "chore: rfcs are specifications")
	w.openDocuments(ghtest.Files{"rfcs/7.md": requirement, stockSpec: requirement})
	for _, r := range models.Requests() {
		if asks(r, asManager) && (!strings.Contains(r.Text, "document rfcs/7.md") || strings.Contains(r.Text, stockSpec)) {
			t.Errorf("the question is about\n%s", r.Text)
		}
	}
	if got := askedAs(models, asManager); len(got) != 2 {
		t.Errorf("the models asked are %q", got)
	}
}

// Without models, the reviewers of documents show nowhere.
func TestSpecificationWithoutModels(t *testing.T) {
	t.Parallel()
	w := start(t)
	pr := w.openDocuments(ghtest.Files{stockSpec: requirement, stockPlan: "# Plan\n"})
	w.WantsCheck(pr, "success")
	if text := fmt.Sprint(pr.AppComments(), w.Check(pr)); strings.Contains(text, "spec-quality-reviewer") || strings.Contains(text, "technical-pm") || strings.Contains(text, "architecture-review") {
		t.Errorf("a reviewer is shown:\n%s", text)
	}
}

// A document may no longer be reviewed because other documents come first. Its findings then
// stay open.
func TestDocumentBeyondTheLimitKeepsItsFindings(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	_, change := withReviewers(t, func(r *llmtest.Request) llmtest.Reply {
		if strings.Contains(r.Text, "fast") {
			return reviewed(map[string]any{"severity": "Critical"})
		}
		return reviewed(nil)
	})
	w := startWith(t, ghtest.Options{WebhookSecret: apptest.Secret}, change)
	pr := w.openDocuments(ghtest.Files{stockSpec: requirement})
	w.WantsCheck(pr, "failure")
	files := ghtest.Files{stockSpec: requirement + "\nA word more.\n"}
	for i := range 10 {
		files[fmt.Sprintf("docs/01-planning/specifications/000-a%d/A.md", i)] = "# Nothing\n"
	}
	pr.Push(files, "docs: more")
	w.Idle()
	report := w.Latest(pr).Review.Report
	blocks := func(f pipeline.Finding) bool { return f.Path == stockSpec && f.Severity == pipeline.SeverityCritical }
	if slices.ContainsFunc(report.Changes.Resolved, blocks) || !slices.ContainsFunc(report.Changes.Unconfirmed, blocks) {
		t.Errorf("resolved %+v\nunconfirmed %+v", report.Changes.Resolved, report.Changes.Unconfirmed)
	}
	if !slices.ContainsFunc(report.Incomplete, func(i pipeline.Incompleteness) bool {
		return strings.Contains(i.Why, "1 document was not reviewed: only the first 10 are: split the change ("+stockSpec+")")
	}) {
		t.Errorf("incomplete %+v", report.Incomplete)
	}
}

// The agent that judges reports is switched off. A report in the change then does not keep
// the models from being asked.
func TestUnjudgedReportDoesNotReplaceModels(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	models, change := withReviewers(t, func(*llmtest.Request) llmtest.Reply {
		return reviewed(map[string]any{"severity": "Critical"})
	})
	w := startWith(t, ghtest.Options{WebhookSecret: apptest.Secret}, change)
	w.Repo.Commit("main", ghtest.Files{config.RepositoryDir + "/" + config.FileAgents: `[{"id": "review-reports", "enabled": false}]`}, "chore: off")
	files := ghtest.Files{stockSpec: requirement}
	for _, by := range []string{"spec-reviewer", "technical-pm"} {
		files["docs/01-planning/specifications/007-stock/review/"+by+"-report.md"] = reviewreport.Write(&reviewreport.Record{Status: "FAILURE", Agent: by, OperationType: "x", Summary: "x."}) + "\n"
	}
	w.WantsCheck(w.openDocuments(files), "failure")
	if got := askedAs(models, asSpecReviewer); len(got) != 2 {
		t.Errorf("the models asked are %q", got)
	}
}

// passingReport is a person's report that passes.
func passingReport(agent, operation string) string {
	sure := 0.9
	return reviewreport.Write(&reviewreport.Record{
		Status: "SUCCESS", Agent: agent, OperationType: operation, Summary: "Reviewed by a person.", Confidence: &sure,
		SuccessEvidence: reviewreport.Evidence{
			QualityAssessment: &reviewreport.QualityAssessment{CompletenessScore: &sure, TestabilityScore: &sure, ClarityScore: &sure, PainPointAlignment: &sure},
			ValidationResults: reviewreport.ValidationResults{QualityThresholdMet: true, ArchitectureFeasible: 1},
		},
	}) + "\n"
}

// A person's report that comes later replaces what the models blocked as the same reviewer,
// and nothing else.
func TestLaterReportReplacesModels(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		report     string
		conclusion string
		resolved   bool
	}{
		"of the reviewer": {passingReport("spec-reviewer", "spec_quality_review"), "neutral", true},
		"of another":      {passingReport("technical-pm", "business_review"), "action_required", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, change := withReviewers(t, func(r *llmtest.Request) llmtest.Reply {
				if asks(r, asSpecReviewer) {
					return reviewed(map[string]any{"confidence": 0.6})
				}
				return reviewed(nil)
			})
			w := startWith(t, ghtest.Options{WebhookSecret: apptest.Secret}, change)
			pr := w.openDocuments(ghtest.Files{stockSpec: requirement})
			w.WantsCheck(pr, "action_required")
			pr.Push(ghtest.Files{stockReport: tt.report}, "docs: review by a person")
			w.Idle()
			w.WantsCheck(pr, tt.conclusion)
			report := w.Latest(pr).Review.Report
			blocks := func(f pipeline.Finding) bool { return f.Title == "Requirements are not ready for planning" }
			if slices.ContainsFunc(report.Changes.Resolved, blocks) != tt.resolved || slices.ContainsFunc(report.Findings, blocks) == tt.resolved {
				t.Errorf("resolved %+v\nfindings %+v", report.Changes.Resolved, report.Findings)
			}
		})
	}
}

// A review by models replaces the mandatory reviewer's report. If no model finishes its
// review, the report is missing.
func TestModelsReplaceTheMandatoryReport(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		answers    func(*llmtest.Request) bool
		conclusion string
	}{
		"both review":  {func(*llmtest.Request) bool { return true }, "neutral"},
		"one reviews":  {func(r *llmtest.Request) bool { return r.Model == "big-1" }, "neutral"},
		"none reviews": {func(*llmtest.Request) bool { return false }, "action_required"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, change := withReviewers(t, func(r *llmtest.Request) llmtest.Reply {
				if asks(r, asSpecReviewer) && !tt.answers(r) {
					return llmtest.Text("Looks good to me!")
				}
				return reviewed(nil)
			})
			w := startWith(t, ghtest.Options{WebhookSecret: apptest.Secret}, change)
			pr := w.openDocuments(ghtest.Files{
				stockSpec: requirement, "docs/01-planning/specifications/007-stock/review/business-review-report.md": passingReport("technical-pm", "business_review"),
			})
			w.WantsCheck(pr, tt.conclusion)
			missing := strings.Contains(w.Ours(pr).Body, "Mandatory review missing: spec-reviewer")
			reports := w.Latest(pr).Review.Report.ReviewReports
			if blocks := tt.conclusion == "action_required"; missing != blocks || len(reports) != 1 || reports[0].Proceed == blocks {
				t.Errorf("missing %t, outcomes %+v", missing, reports)
			}
		})
	}
}
