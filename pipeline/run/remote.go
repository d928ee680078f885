package run

import (
	"context"
	"errors"
	"fmt"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/aggregate"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/pipeline/plaintext"
)

// remoteConfidence is the confidence of a remote reviewer's issues, which don't state a confidence.
const remoteConfidence = 0.70

// maxIssueTitle is how much of an issue's description becomes a finding's title, in characters.
const maxIssueTitle = 120

// remote is an agent of the kind webhook. Its reviewer was asked before the dispatch, and its answer
// is part of the session.
type remote struct {
	agent config.Agent
	asked *pipeline.AskedReviewer // nil if it was not asked about this head
	facts *pipeline.PRFacts
}

// Review turns the reviewer's issues into findings.
func (r remote) Review(context.Context, dispatch.Task) (dispatch.Answer, error) {
	a := r.asked
	switch {
	case a == nil && r.agent.Session:
		return dispatch.Answer{}, &dispatch.NotAskedError{Why: "it is asked when a coding agent reports, or by /review"}
	case a == nil: // on the command line, or in a merge group, whose pull requests were asked about
		return dispatch.Answer{Output: pipeline.AgentOutput{Agent: r.agent.ID}, Note: "it was not asked, because remote reviewers are asked only about pull requests"}, nil
	case a.State == pipeline.AskedWaiting:
		return dispatch.Answer{}, &dispatch.WaitingError{Until: a.Deadline.UTC().Format("15:04 UTC")}
	case a.State != pipeline.AskedAnswered || a.Answer == nil:
		note := "gave no valid answer in time"
		if a.Note != "" {
			note += ": " + a.Note
		}
		return dispatch.Answer{}, errors.New(note)
	}
	out := pipeline.AgentOutput{Agent: r.agent.ID}
	if r.agent.Webhook == nil || !r.agent.Webhook.Trusted {
		out.Model = r.agent.ID // its findings need proof like a model's
	}
	misplaced := aggregate.Misplaced(r.facts)
	for _, x := range a.Answer.Issues {
		out.Findings = append(out.Findings, findingOf(x, misplaced))
	}
	return dispatch.Answer{Output: out, Remote: true}, nil
}

// findingOf turns an issue into a finding. If the issue's place is not in the change, the finding is
// about the change as a whole, and its message names the place.
func findingOf(x pipeline.SessionIssue, misplaced func(*pipeline.Finding) string) pipeline.Finding {
	f := pipeline.Finding{
		Title: plaintext.CutLine(x.Description, maxIssueTitle), Message: x.Description, Severity: x.Severity, Confidence: remoteConfidence,
		Path: x.File, StartLine: x.Line, EndLine: x.Line,
	}
	if f.Path == "" || misplaced(&f) != "" {
		if f.Path != "" {
			f.Message = fmt.Sprintf("%s (%s", f.Message, f.Path)
			if x.Line > 0 {
				f.Message += fmt.Sprintf(":%d", x.Line)
			}
			f.Message += ")"
		}
		f.Path, f.StartLine, f.EndLine, f.Section = "", 0, 0, pipeline.SectionChange
	}
	return f
}

// cycleOf returns the cycle in which an agent reviews, or nil. An agent does not review its own work.
func cycleOf(s *pipeline.Session, a *config.Agent) *pipeline.SessionCycle {
	if s == nil || s.Cycle == nil || !a.Session || s.Cycle.IsTarget(a.ID) {
		return nil
	}
	return s.Cycle
}
