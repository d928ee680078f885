package report

import (
	"context"
	"fmt"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/reviewreport"
)

const (
	// maxComments bounds the comments with reports that count on one pull request.
	// Others are told by their authors, so that who may not write can't hold up a
	// review by writing many.
	maxComments = 100
	// maxAuthors bounds their authors, each of whom takes a call.
	maxAuthors = 30
)

// operationPlan is the operation_type of a report on a plan.
const operationPlan = "technical_review"

// inComments reads the reports in comments by people with write permission.
// ignored says whose do not count.
func (a *Agent) inComments(ctx context.Context) (reports []reviewreport.Report, ignored []string, err error) {
	comments, err := a.Discussion.Remarks(ctx, strings.TrimLeft(reviewreport.Heading, "# "))
	if err != nil {
		return nil, nil, fmt.Errorf("read the comments: %w", err)
	}
	trusted := map[string]bool{}
	for _, c := range comments {
		if !reviewreport.HasSection([]byte(c.Body)) {
			continue
		}
		who := strings.ToLower(c.Author)
		if _, asked := trusted[who]; !asked {
			if len(trusted) == maxAuthors {
				return nil, nil, fmt.Errorf("more than %d people commented review reports: delete those that are out of date", maxAuthors)
			}
			permission, err := a.Discussion.Permission(ctx, c.Author)
			if err != nil {
				return nil, nil, fmt.Errorf("ask whether %s may write: %w", c.Author, err)
			}
			trusted[who] = permission.CanWrite()
			if !trusted[who] {
				ignored = append(ignored, fmt.Sprintf("The review report in a comment by %s does not count: that takes write permission.", c.Author))
			}
		}
		if !trusted[who] {
			continue
		}
		if len(reports) == maxComments {
			return nil, nil, fmt.Errorf("more than %d comments with review reports count: delete those that are out of date", maxComments)
		}
		source := fmt.Sprintf("comment %d by %s", c.ID, c.Author)
		reports = append(reports, reviewreport.Read(source, "", []byte(a.Redact(c.Body))))
	}
	return reports, ignored, nil
}

// join puts reports from comments to the document of their phase, or where
// there is none or more than one, to documents of their own.
func join(docs []document, inComments []reviewreport.Report) []document {
	for _, phase := range []string{pipeline.PhasePlan, pipeline.PhaseSpec} {
		var reports []reviewreport.Report
		for _, r := range inComments {
			if (phase == pipeline.PhasePlan) == (r.Record.OperationType == operationPlan) {
				reports = append(reports, r)
			}
		}
		if len(reports) == 0 {
			continue
		}
		first, several := -1, false
		for i := range docs {
			if docs[i].phase == phase {
				first, several = i, first >= 0
			}
		}
		if first >= 0 && !several {
			docs[first].reports = append(docs[first].reports, reports...)
			continue
		}
		docs = append(docs, document{phase: phase, place: pipeline.ReviewReportsInComments, reports: reports})
	}
	return docs
}
