package render

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/aggregate"
	"github.com/reviewgate/reviewgate/policies/fixloop"
	"github.com/reviewgate/reviewgate/policies/fourrules"
	"github.com/reviewgate/reviewgate/policies/sessions"
)

// The summaries of reviewers in the samples.
const (
	dropsColumn = "The migration drops `orders.total` before the new column is filled, so that a rollback loses every total."
	noFallback  = "There is no fallback if the currency service does not answer; the checkout then fails."
	noTests     = "Rounding by currency has no test. JPY has no minor unit, and the code assumes two digits everywhere."
	fine        = "The split into a pure function and a thin handler is right, and the tests cover the edges."
)

func answered(name string, v pipeline.SessionVerdict, summary string, issues int) pipeline.SessionReviewer {
	return pipeline.SessionReviewer{Reviewer: name, State: pipeline.AskedAnswered, Verdict: v, Summary: summary, Issues: issues}
}

func missed(name, note string) pipeline.SessionReviewer {
	return pipeline.SessionReviewer{Reviewer: name, State: pipeline.AskedMissing, Note: note}
}

func awaitedReviewer(name string) pipeline.SessionReviewer {
	return pipeline.SessionReviewer{Reviewer: name, State: pipeline.AskedWaiting}
}

// inCycle gives a review a cycle in which reviewers answered, after an earlier state of the session.
// It decides as the aggregate does.
func inCycle(v View, before pipeline.SessionState, number int, rows ...pipeline.SessionReviewer) View {
	begun := v.Record.StartedAt.Add(-time.Minute)
	r := &v.Review
	r.Session = &pipeline.Session{Before: before, Cycle: &pipeline.SessionCycle{
		Number: number, Triggers: pipeline.List[pipeline.SessionTrigger]{pipeline.TriggerMilestone}, Events: pipeline.List[string]{"claude/m-7"},
		Targets: pipeline.List[string]{"claude"}, BegunAt: begun, Deadline: begun.Add(10 * time.Minute),
	}}
	rep := &pipeline.SessionReport{Rule: -1, Cycle: number, Reviewers: rows}
	c := sessions.Cycle{Number: number, HeadSHA: headSHA}
	for _, x := range before.Concerns {
		c.Reviewers = append(c.Reviewers, x.Reviewer)
	}
	for _, x := range rows {
		c.Reviewers = append(c.Reviewers, x.Reviewer)
		asked := sessions.Reviewer{Name: x.Reviewer}
		switch x.State {
		case pipeline.AskedAnswered:
			asked.Result = &fourrules.Result{Reviewer: x.Reviewer, Payload: fourrules.Payload{Verdict: fourrules.Verdict(x.Verdict), Summary: x.Summary}}
		case pipeline.AskedWaiting:
			asked.Waiting, rep.Deadline = true, r.Session.Cycle.Deadline
			rep.Waiting = append(rep.Waiting, x.Reviewer)
			r.Report.Coverage = append(r.Report.Coverage, pipeline.Coverage{Agent: x.Reviewer, Status: pipeline.AgentWaiting, Note: "it has until 09:39 UTC"})
			r.Report.Incomplete = append(r.Report.Incomplete, pipeline.Incompleteness{What: pipeline.IncompleteAnswer, Why: x.Reviewer + " has not answered yet: it has until 09:39 UTC", Gating: true})
		}
		c.Asked = append(c.Asked, asked)
	}
	if rep.State, _, rep.Decided = sessions.Next(before, c); rep.State.Cycle > 0 {
		rep.Rule = rep.State.Rule
	}
	rep.Action = string(sessions.Action(&rep.State))
	rep.Status = rep.State.Status()
	rep.Flagged = !rep.State.Paused() && len(rep.State.Concerns) > 0
	r.Report.Session = rep
	v.People = []string{"mira", "acme/leads"}
	hold(&r.Report)
	return v
}

// hold keeps a review from passing, as the aggregate does.
func hold(r *pipeline.Report) {
	switch st := &r.Session.State; {
	case r.Decision.Blocks():
	case st.Escalation != nil:
		r.Decision, r.Gate.Condition = pipeline.DecisionNeedsFixes, aggregate.SessionEscalated
	case st.Pause != nil && st.Pause.Rule == 0:
		r.Decision, r.Gate.Condition = pipeline.DecisionNeedsFixes, aggregate.SessionUnheard
	case st.Pause != nil:
		r.Decision, r.Gate.Condition = pipeline.DecisionNeedsFixes, aggregate.SessionPaused
	case isIncomplete(r):
		r.Decision, r.Gate.Condition = pipeline.DecisionNeedsFixes, aggregate.Incomplete
	}
}

// found is a finding that a reviewer raised.
func found(agent, title string, severity pipeline.Severity) pipeline.Finding {
	return pipeline.Finding{
		Title: title, Severity: severity, GateSeverity: severity, Path: "pricing/total.ts", StartLine: 42, EndLine: 42, Agent: agent,
		ID: fmt.Sprintf("%016x", len(title)), State: pipeline.StateNew,
	}
}

// withFound returns a review with the findings that reviewers raised.
func withFound(d pipeline.Decision, condition string, fs ...pipeline.Finding) View {
	v := cleanView()
	setFindings(&v, d, condition, fs...)
	return v
}

var nobody pipeline.SessionState

// after returns the state of a session after a cycle.
func after(before pipeline.SessionState, number int, rows ...pipeline.SessionReviewer) pipeline.SessionState {
	return inCycle(cleanView(), before, number, rows...).Review.Report.Session.State
}

func sessionBlockerView() View {
	v := withFound(pipeline.DecisionPassWithWarnings, "warning > 0", found("codex", "Drops a column before it is copied", pipeline.SeverityWarning))
	return inCycle(v, nobody, 3, answered("codex", pipeline.SessionBlocker, dropsColumn, 1), answered("gemini", pipeline.SessionApproved, fine, 0))
}

func sessionConcernsView() View {
	v := withFound(pipeline.DecisionNeedsFixes, "major > 0",
		found("codex", "No fallback without the currency service", pipeline.SeverityMajor), found("gemini", "JPY is rounded to two digits", pipeline.SeverityMajor))
	late := answered("gemini", pipeline.SessionConcerns, noTests, 2)
	late.Late = true
	return inCycle(v, nobody, 3, answered("codex", pipeline.SessionConcerns, noFallback, 1), late, answered("qwen", pipeline.SessionApproved, fine, 0))
}

func sessionMissingView() View {
	return inCycle(cleanView(), nobody, 3, answered("codex", pipeline.SessionApproved, fine, 0), missed("gemini", "its server answered with the status 503, in 4 attempts"))
}

func sessionFlaggedView() View {
	model := answered("security-reviewer", pipeline.SessionApproved, "no finding at warning level or above", 0)
	model.Model = true
	return inCycle(cleanView(), nobody, 3, answered("codex", pipeline.SessionConcerns, noFallback, 1), answered("gemini", pipeline.SessionApproved, fine, 0), model)
}

func sessionApprovedView() View {
	v := inCycle(cleanView(), nobody, 3, answered("codex", pipeline.SessionApproved, fine, 0), answered("gemini", pipeline.SessionApproved, "", 0))
	v.Review.Session.Cycle.Triggers = pipeline.List[pipeline.SessionTrigger]{pipeline.TriggerBlocker, pipeline.TriggerMilestone, pipeline.TriggerRequestReview, pipeline.TriggerPerson}
	return v
}

func sessionWaitingView() View {
	v := withFound(pipeline.DecisionPassWithWarnings, "warning > 0", found("build-reviewer", "Error of Close is dropped", pipeline.SeverityWarning))
	return inCycle(v, nobody, 3, awaitedReviewer("codex"), answered("gemini", pipeline.SessionApproved, fine, 0), awaitedReviewer("qwen"))
}

// A blocker decides although answers are still to come.
func sessionBlockerWaitingView() View {
	return inCycle(cleanView(), nobody, 3, answered("codex", pipeline.SessionBlocker, dropsColumn, 0), awaitedReviewer("gemini"))
}

// An escalation of an earlier cycle and a pause of this one are in force.
func sessionBothView() View {
	before := after(nobody, 2, answered("codex", pipeline.SessionBlocker, dropsColumn, 0), answered("gemini", pipeline.SessionApproved, fine, 0))
	return inCycle(cleanView(), before, 3,
		answered("codex", pipeline.SessionConcerns, noFallback, 1), answered("gemini", pipeline.SessionConcerns, noTests, 2), answered("qwen", pipeline.SessionApproved, fine, 0))
}

func sessionFailedView() View {
	v := findingsView()
	return inCycle(v, nobody, 3, answered("codex", pipeline.SessionBlocker, dropsColumn, 1), answered("gemini", pipeline.SessionConcerns, noTests, 1))
}

// sawAll returns ann's decision to resume a session after she saw all of its state.
func sawAll(s pipeline.SessionState) *pipeline.SessionResume {
	return &pipeline.SessionResume{By: "ann", Escalation: s.Escalation, Pause: s.Pause, Answers: s.Answers}
}

// A person resumed the session, and nobody has been asked since.
func sessionResumedView() View {
	before := after(nobody, 3, answered("codex", pipeline.SessionConcerns, noFallback, 1), answered("gemini", pipeline.SessionConcerns, noTests, 2))
	v := cleanView()
	saw := sawAll(before)
	state, _ := sessions.Resume(before, 1, saw)
	v.Review.Session = &pipeline.Session{Before: before, Resumes: 1, Resumed: saw}
	state.HeadSHA = prevSHA
	v.Review.Report.Session = &pipeline.SessionReport{
		Status: state.Status(), Rule: state.Rule, Action: string(sessions.Action(&state)), Flagged: true, Cycle: 3, State: state, ResumedBy: "ann",
	}
	return v
}

// A person resumed the session on the same head, so that the answers do not pause it again.
func sessionSettledView() View {
	rows := []pipeline.SessionReviewer{answered("codex", pipeline.SessionBlocker, dropsColumn, 1), answered("gemini", pipeline.SessionConcerns, noTests, 2)}
	before := after(nobody, 3, rows...)
	state, _ := sessions.Resume(before, 1, sawAll(before))
	v := inCycle(cleanView(), state, 3, rows...)
	v.Review.Report.Session.ResumedBy = "ann"
	v.Notices = []string{Notice{Kind: NoticeResumed, By: "ann", Escalation: pauseBy(1, "codex")}.String()}
	return v
}

func sessionOverriddenView() View {
	v := findingsView()
	decideByHand(&v, pipeline.HandOverride, "alice", "the warehouse is down; the fix follows in the next release")
	return inCycle(v, nobody, 3, answered("codex", pipeline.SessionBlocker, dropsColumn, 1), answered("gemini", pipeline.SessionApproved, fine, 0))
}

func sessionRejectedView() View {
	v := cleanView()
	decideByHand(&v, pipeline.HandReject, "mira", "this needs the data team's word first")
	return inCycle(v, nobody, 3, answered("codex", pipeline.SessionConcerns, noFallback, 1), answered("gemini", pipeline.SessionConcerns, noTests, 2))
}

func sessionAdvisoryView() View {
	v := sessionBlockerView()
	v.Mode = "advisory"
	return v
}

// The session is paused, and the fix loop is escalated.
func sessionEscalatedView() View {
	v := sessionConcernsView()
	v.FixLoop = fixloop.State{Status: fixloop.Escalated, Attempt: 2, Max: 2, Since: headSHA}
	return v
}

// A required agent failed, and a reviewer's answer is awaited, too.
func sessionIncompleteView() View {
	v := sessionWaitingView()
	v.Review.Report.Incomplete = append(v.Review.Report.Incomplete, pipeline.Incompleteness{What: "agent", Why: "the required agent secrets timed out after 120 s, in 3 attempts", Gating: true})
	return v
}

// Answers about an earlier head came too late, a concern of an earlier cycle is open, and a reviewer of
// sessions was not asked.
func sessionOutdatedView() View {
	before := after(nobody, 2, answered("qwen", pipeline.SessionConcerns, noTests, 1), answered("codex", pipeline.SessionApproved, fine, 0))
	v := inCycle(cleanView(), before, 3, answered("codex", pipeline.SessionApproved, fine, 0), answered("gemini", pipeline.SessionApproved, fine, 0))
	old := answered("gemini", pipeline.SessionBlocker, dropsColumn, 1)
	old.HeadSHA = prevSHA
	v.Review.Report.Session.Outdated = pipeline.List[pipeline.SessionReviewer]{old}
	v.Review.Manifest.Entries = append(v.Review.Manifest.Entries, pipeline.ManifestEntry{Agent: "qwen", Scope: pipeline.AgentScope{All: true}})
	v.Review.Report.Coverage = append(v.Review.Report.Coverage, pipeline.Coverage{Agent: "qwen", Status: pipeline.AgentNotAsked, Note: "it is asked when a coding agent reports, or by /review"})
	return v
}

// Models review beside remote reviewers, and the fallback began the cycle.
func sessionModelsView() View {
	v := modelsView()
	spec := answered("spec-reviewer", pipeline.SessionConcerns, "2 findings at warning level or above", 2)
	quality := answered("quality-reviewer", pipeline.SessionConcerns, "one finding at warning level or above", 1)
	spec.Model, quality.Model = true, true
	v = inCycle(v, nobody, 4, answered("codex", pipeline.SessionApproved, fine, 0), quality, spec)
	v.Review.Session.Cycle.Triggers = pipeline.List[pipeline.SessionTrigger]{pipeline.TriggerFallback}
	return v
}

// An answer that is required outside of sessions is awaited, and the deadline is on the next day.
func sessionOutsideView() View {
	v := cleanView()
	v.Review.Manifest.Entries = append(v.Review.Manifest.Entries, pipeline.ManifestEntry{Agent: "auditor", Required: true, Scope: pipeline.AgentScope{All: true}})
	begun := v.Record.StartedAt
	v.Review.Session = &pipeline.Session{
		Cycle: &pipeline.SessionCycle{BegunAt: begun},
		Asked: pipeline.List[pipeline.AskedReviewer]{{Reviewer: "auditor", State: pipeline.AskedWaiting, Deadline: begun.Add(20 * time.Hour)}},
	}
	v.Review.Report.Coverage = append(v.Review.Report.Coverage, pipeline.Coverage{Agent: "auditor", Status: pipeline.AgentWaiting, Note: "it has until 05:30 UTC"})
	v.Review.Report.Incomplete = pipeline.List[pipeline.Incompleteness]{{What: pipeline.IncompleteAnswer, Why: "auditor has not answered yet: it has until 05:30 UTC", Gating: true}}
	v.Review.Report.Decision, v.Review.Report.Gate.Condition = pipeline.DecisionNeedsFixes, aggregate.Incomplete
	return v
}

// Names, summaries and notes are hostile, and there are 50 reviewers.
func sessionHostileView() View {
	var rows []pipeline.SessionReviewer
	for i := range 50 {
		name := fmt.Sprintf("%02d %s", i, nasty)
		switch i % 4 {
		case 0:
			rows = append(rows, answered(name, pipeline.SessionConcerns, strings.Repeat(nasty+"\n```\n# heading\n", 20), i))
		case 1:
			rows = append(rows, answered(name, pipeline.SessionBlocker, "```````\n</details>\n- item | "+nasty, 1))
		case 2:
			rows = append(rows, missed(name, nasty))
		default:
			rows = append(rows, answered(name, pipeline.SessionVerdict(nasty), nasty, 1))
		}
	}
	pause := after(nobody, 2, answered(nasty, pipeline.SessionConcerns, nasty, 0), answered("``````` @octocat", pipeline.SessionConcerns, nasty, 0))
	v := inCycle(cleanView(), pause, 3, rows...)
	v.Review.Session.Cycle.Targets = pipeline.List[string]{nasty, "|"}
	s := v.Review.Report.Session
	s.Outdated = pipeline.List[pipeline.SessionReviewer]{rows[1], rows[2]}
	s.Outdated[0].HeadSHA, s.ResumedBy = nasty, nasty
	s.State.Pause.Clarification += "\n```````\n</details>\n" + Marker + "\n@octocat"
	v.People = []string{nasty, "@octocat", "a/b/c", "-x", "x y"}
	return v
}

// hostileSession gives a review a session with hostile names, summaries and notes.
func hostileSession(v View) View {
	before := after(nobody, 2, answered(nasty, pipeline.SessionConcerns, nasty, 1), answered("| @octocat", pipeline.SessionConcerns, nasty, 1))
	model := answered(nasty, pipeline.SessionApproved, nasty, 2)
	model.Model = true
	v = inCycle(v, before, 3, answered("a"+nasty, pipeline.SessionBlocker, nasty, 1), answered("b"+nasty, pipeline.SessionVerdict(nasty), nasty, 2),
		missed("c"+nasty, nasty), awaitedReviewer("d"+nasty), model)
	v.Review.Session.Cycle.Targets = pipeline.List[string]{nasty}
	s := v.Review.Report.Session
	s.Outdated, s.ResumedBy = pipeline.List[pipeline.SessionReviewer]{{Reviewer: nasty, HeadSHA: nasty, Verdict: pipeline.SessionBlocker, State: pipeline.AskedAnswered, Summary: nasty}}, nasty
	s.State.Concerns = append(s.State.Concerns, pipeline.SessionConcern{Reviewer: nasty, Summary: nasty, Cycle: 1})
	v.People = []string{nasty}
	return v
}

// A name is a mention only if it has the form of a login or a team, and only in the alert about a
// blocker.
func TestMentions(t *testing.T) {
	for name, want := range map[string]safe{
		"mira": "@mira", "a": "@a", "M-1": "@M-1", "acme/leads": "@acme/leads", "acme/a_b-2": "@acme/a_b-2", strings.Repeat("x", 39): "@" + safe(strings.Repeat("x", 39)),
		"": "", "-x": "-x", "x-": "x-", "x y": "x y", "a/b/c": "a/b/c", "/x": "/x", "a/": "a/", "a/-": "a/-", "a\nb": "a b", "@x": "@" + zeroWidthSpace + "x",
		"x\n": "x", "é": "é", "a.b": "a.b", strings.Repeat("x", 40): safe(strings.Repeat("x", 40)),
	} {
		if got := mentioned(markdownPen{}, name); got != want {
			t.Errorf("%q becomes %q, want %q", name, got, want)
		}
	}
	mentions := func(v View) int { return len(mention.FindAllString(Comment(v).Body, -1)) }
	if n := mentions(sessionBlockerView()); n != 2 {
		t.Errorf("%d mentions about a blocker, want 2", n)
	}
	for name, view := range map[string]func() View{
		"concerns": sessionConcernsView, "missing": sessionMissingView, "flagged": sessionFlaggedView, "waiting": sessionWaitingView, "advisory": sessionAdvisoryView, "resumed": sessionResumedView,
	} {
		if n := mentions(view()); n > 0 {
			t.Errorf("%s: %d mentions", name, n)
		}
	}
}

// Whatever reviewers write, the prompt's block ends where we end it.
func TestPromptStaysInItsBlock(t *testing.T) {
	for _, text := range []string{"```", "a\n```\nb", "````````", "~~~\n</details>\n# x", Marker, "\u202e` ```"} {
		v := sessionConcernsView()
		v.Review.Report.Session.State.Pause.Clarification = text
		requireInert(t, v)
		if n := strings.Count(Comment(v).Body, "\n### Session\n"); n != 1 {
			t.Errorf("%q: %d sections about the session", text, n)
		}
	}
}

func TestHostileSessionIsInert(t *testing.T) { requireInert(t, sessionHostileView()) }

func pauseBy(rule int, reviewers ...string) *pipeline.SessionPause {
	return &pipeline.SessionPause{Cycle: 3, Rule: rule, Reviewers: reviewers}
}
