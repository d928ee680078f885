package aggregate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/fourrules"
	"github.com/reviewgate/reviewgate/policies/sessions"
)

// The gate's conditions if only a session's pause keeps the change from passing.
const (
	SessionEscalated = "the session is paused: a blocker"
	SessionPaused    = "the session is paused: it needs clarification"
	SessionUnheard   = "the session is paused: an answer is missing"
)

// session applies the four rules to the reviewers' answers, and reports the state of the session of
// coding agents. found is the work on the same input without memory, because memory must not turn a
// model's concerns into an approval. It is nil if an earlier stage failed.
func (w *work) session(found *work) {
	s := w.in.Session
	if s == nil {
		return
	}
	state, resumed := sessions.Resume(s.Before, s.Resumes, s.Resumed)
	out := &pipeline.SessionReport{Rule: -1, Cycle: state.Cycle, Outdated: outdated(s.Outdated)}
	if resumed {
		out.ResumedBy = s.Resumed.By
	}
	switch c := s.Cycle; {
	case c != nil && found != nil:
		cycle := cycleOf(found, out)
		state, _, out.Decided = sessions.Next(state, cycle)
		out.Cycle = c.Number
	case c == nil && state.Cycle == 0 && len(out.Outdated) == 0:
		return // no session, only reviewers that are asked about each head
	}
	if state.Cycle > 0 {
		out.Action = string(sessions.Action(&state))
		out.Rule = state.Rule
	}
	out.State, out.Status = state, state.Status()
	out.Flagged = !state.Paused() && len(state.Concerns) > 0
	w.report.Session = out
}

// cycleOf gathers the answers of the cycle, and lists the reviewers in the report: the remote ones, and
// the models that are reviewers of sessions. A target does not review itself.
func cycleOf(w *work, out *pipeline.SessionReport) sessions.Cycle {
	s := w.in.Session
	c := sessions.Cycle{Number: s.Cycle.Number, HeadSHA: w.in.Facts.Head.SHA}
	for i := range s.Asked {
		a := &s.Asked[i]
		if !a.Session || a.Cycle != s.Cycle.Number || s.Cycle.IsTarget(a.Reviewer) {
			continue // of an answer in an earlier cycle only the findings count
		}
		out.Reviewers = append(out.Reviewers, reviewerOf(a))
		r := sessions.Reviewer{Name: a.Reviewer}
		if a.State == pipeline.AskedAnswered && a.Answer != nil {
			r.Result = resultOf(a)
		}
		if a.State == pipeline.AskedWaiting {
			r.Waiting = true
			out.Waiting = append(out.Waiting, a.Reviewer)
			if a.Deadline.After(out.Deadline) {
				out.Deadline = a.Deadline
			}
		}
		c.Asked = append(c.Asked, r)
	}
	for i := range w.in.Config.Agents {
		a := &w.in.Config.Agents[i]
		if a.Enabled && a.Session {
			c.Reviewers = append(c.Reviewers, a.ID)
		}
		if !a.Session || a.Kind != config.KindLLM || s.Cycle.IsTarget(a.ID) || w.in.Manifest.Entry(a.ID) == nil {
			continue
		}
		result, row := modelAnswer(w, a)
		out.Reviewers = append(out.Reviewers, row)
		c.Asked = append(c.Asked, sessions.Reviewer{Name: a.ID, Result: result})
	}
	slices.SortFunc(out.Reviewers, func(a, b pipeline.SessionReviewer) int { return strings.Compare(a.Reviewer, b.Reviewer) })
	return c
}

func outdated(list []pipeline.AskedReviewer) (out pipeline.List[pipeline.SessionReviewer]) {
	for i := range list {
		row := reviewerOf(&list[i])
		row.HeadSHA = list[i].HeadSHA
		out = append(out, row)
	}
	return out
}

func reviewerOf(a *pipeline.AskedReviewer) pipeline.SessionReviewer {
	row := pipeline.SessionReviewer{Reviewer: a.Reviewer, State: a.State, Late: a.Late, Note: a.Note}
	if a.Answer != nil {
		row.Verdict, row.Summary, row.Issues = a.Answer.Verdict, a.Answer.Summary, len(a.Answer.Issues)
	}
	return row
}

func resultOf(a *pipeline.AskedReviewer) *fourrules.Result {
	r := &fourrules.Result{
		Type: fourrules.TypeResult, Reviewer: a.Reviewer, Timestamp: a.Answer.At,
		Payload: fourrules.Payload{Verdict: fourrules.Verdict(a.Answer.Verdict), Summary: a.Answer.Summary},
	}
	for _, x := range a.Answer.Issues {
		r.Payload.Issues = append(r.Payload.Issues, fourrules.Issue{Severity: x.Severity, Description: x.Description, File: x.File, Line: x.Line})
	}
	return r
}

// modelAnswer derives a verdict from a model agent's findings. A critical finding that the gate also
// counts as critical is a blocker. Any other finding at warning level or above is a concern. Without
// these the model approves if it has finished.
func modelAnswer(w *work, a *config.Agent) (*fourrules.Result, pipeline.SessionReviewer) {
	agent := a.ID
	row := pipeline.SessionReviewer{Reviewer: agent, State: pipeline.AskedAnswered, Model: true}
	p := fourrules.Payload{Verdict: fourrules.Approved}
	for _, f := range w.findings {
		for _, m := range f.raisedBy(agent) {
			if m.Severity.Rank() < pipeline.SeverityWarning.Rank() {
				continue
			}
			if m.Severity == pipeline.SeverityCritical && f.GateSeverity == pipeline.SeverityCritical {
				p.Verdict = fourrules.Blocker
			} else if p.Verdict == fourrules.Approved {
				p.Verdict = fourrules.Concerns
			}
			p.Issues = append(p.Issues, fourrules.Issue{Severity: m.Severity, Description: m.Title, File: m.Path, Line: m.StartLine})
		}
	}
	if p.Verdict == fourrules.Approved {
		why := w.in.unfinished(agent)
		if why == "" && w.specFails && a.StageOf() != pipeline.ReviewStageSpec {
			why = "its findings don't count, since the spec stage failed"
		}
		if why != "" {
			row.State, row.Note = pipeline.AskedMissing, why
			return nil, row
		}
	}
	p.Summary = fmt.Sprintf("%d findings at warning level or above", len(p.Issues))
	switch len(p.Issues) {
	case 0:
		p.Summary = "no finding at warning level or above"
	case 1:
		p.Summary = "one finding at warning level or above"
	}
	row.Verdict, row.Summary, row.Issues = pipeline.SessionVerdict(p.Verdict), p.Summary, len(p.Issues)
	return &fourrules.Result{Type: fourrules.TypeResult, Reviewer: agent, Payload: p}, row
}

// raisedBy returns the findings of an agent in this one, which may be merged or a trade-off.
func (f *item) raisedBy(agent string) (out []*item) {
	if f.parts != nil {
		for _, p := range f.parts {
			out = append(out, p.raisedBy(agent)...)
		}
		return out
	}
	for _, m := range f.each() {
		if m.Agent == agent {
			out = append(out, m)
		}
	}
	return out
}

// unfinished says why an agent has not finished. It returns "" if it has.
func (in *input) unfinished(agent string) string {
	ran := false
	for _, r := range in.Results {
		if r.Agent != agent {
			continue
		}
		ran = true
		switch {
		case r.Status == pipeline.AgentDiscarded:
			return r.Note
		case !done(r.Status):
			return ended(r.Status) + ": " + r.Note
		}
		if r.Output.Voided > 0 {
			return "quoted text that is not in the change"
		}
	}
	if !ran {
		return "did not run"
	}
	return ""
}

// holdSession keeps a change from passing while its session is paused, and a merge group while one of its
// pull requests is. It comes after a person's decision about the gate, because only a resume ends an
// escalation.
func holdSession(r *pipeline.Report, paused []pipeline.PausedPull) {
	if r.Decision.Rank() >= pipeline.DecisionNeedsFixes.Rank() {
		return
	}
	if len(paused) > 0 {
		r.Decision, r.Gate.Condition = pipeline.DecisionNeedsFixes, pausedPulls(paused)
		return
	}
	if r.Session == nil {
		return
	}
	s := &r.Session.State
	r.Session.Decides = s.Paused()
	switch {
	case s.Escalation != nil:
		r.Decision, r.Gate.Condition = pipeline.DecisionNeedsFixes, SessionEscalated
	case s.Pause != nil && s.Pause.Rule == 0:
		r.Decision, r.Gate.Condition = pipeline.DecisionNeedsFixes, SessionUnheard
	case s.Pause != nil:
		r.Decision, r.Gate.Condition = pipeline.DecisionNeedsFixes, SessionPaused
	}
}

// pausedPulls says which pull requests of a merge group are paused.
func pausedPulls(paused []pipeline.PausedPull) string {
	const named = 3
	var each []string
	for i, p := range paused {
		if i == named {
			each = append(each, fmt.Sprintf("%d more", len(paused)-named))
			break
		}
		each = append(each, fmt.Sprintf("pull request %d is paused by rule %d (%s)", p.Number, p.Rule, strings.Join(p.Reviewers, ", ")))
	}
	return strings.Join(each, "; ")
}

// unconfirmedBlocker returns the earlier head on which the findings of a remote reviewer blocked, or "".
// They don't stop blocking just because the reviewer was not asked about this head.
func (in *input) unconfirmedBlocker(agent string) string {
	if in.Previous == nil {
		return ""
	}
	for _, f := range slices.Concat(in.Previous.Findings, in.Previous.Unconfirmed) {
		if slices.Contains(agentsIn(&f), agent) && blocksGate(&f) {
			return in.Previous.HeadSHA
		}
	}
	return ""
}

// agentsIn returns the agents that made a stored finding.
func agentsIn(f *pipeline.Finding) []string {
	if len(f.Reviewers) == 0 {
		return []string{f.Agent}
	}
	return f.Reviewers
}
