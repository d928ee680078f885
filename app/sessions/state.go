package sessions

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/plaintext"
	policy "github.com/reviewgate/reviewgate/policies/sessions"
)

// State is what an agent needs to know about a pull request. The API returns it as JSON.
type State struct {
	Repository string `json:"repository"`
	Number     int    `json:"number"`
	HeadSHA    string `json:"head_sha"` // the newest known head
	Status     string `json:"status"`   // PAUSED or RUNNING
	// Settled says that nothing is under way: no event waits, no cycle is under review, and no review is
	// pending. The other fields then take all earlier events and answers into account.
	Settled bool `json:"settled"`
	// Detail says in words what is under way, or why there is no review or no decision. Otherwise it is
	// empty.
	Detail string `json:"detail"`
	// Rule is the rule of the newest decision, 0 to 4, and null before the first.
	Rule *int `json:"rule"`
	// DecidedSHA and DecidedCycle are the head and the cycle that Rule is about. They are empty and 0
	// before the first decision.
	DecidedSHA   string `json:"decided_sha"`
	DecidedCycle int    `json:"decided_cycle"`
	// Action is what the agents must do now. An older escalation still stops them, whatever Rule says.
	Action  string   `json:"action"`
	Flagged bool     `json:"flagged"` // work goes on with open concerns
	Reasons []string `json:"reasons"` // why the session is paused, in words
	// Clarification is the prompt for the agents while rule 0 or 2 pauses the session.
	Clarification string     `json:"clarification"`
	Cycle         *Cycle     `json:"cycle"` // the newest one; null before the first
	Reviewers     []Reviewer `json:"reviewers"`
	Concerns      []Concern  `json:"concerns"`
	// Decision is the gate's decision on ReviewedSHA, with the session taken into account: pass,
	// pass_with_warnings, needs_fixes or fail. It is empty before the first review.
	Decision    string `json:"decision"`
	ReviewedSHA string `json:"reviewed_sha"`
	// Findings are the report's first MaxFindings findings, in its order.
	Findings     []Finding `json:"findings"`
	FindingsMore int       `json:"findings_more"`
	URL          string    `json:"url"` // of the pull request
}

// MaxFindings bounds the findings in a State.
const MaxFindings = 100

// Cycle is the newest cycle of a session.
type Cycle struct {
	Number   int      `json:"number"`
	State    string   `json:"state"` // gathering, running, stalled, decided or ended
	Triggers []string `json:"triggers"`
	Events   []string `json:"events"` // as agent/id
	// Deadline is the latest deadline of the reviewers who have not answered; null if all have.
	Deadline *time.Time `json:"deadline"`
}

// The states of a cycle. While events are gathered, Number is the number of the next cycle. A stalled
// cycle waits for the next review, since the last one was skipped or given up. A cycle ends without a
// decision if nobody could be asked.
const (
	CycleGathering = "gathering"
	CycleRunning   = "running"
	CycleStalled   = "stalled"
	CycleDecided   = "decided"
	CycleEnded     = "ended"
)

// Reviewer is a reviewer's part in the newest cycle.
type Reviewer struct {
	Reviewer string `json:"reviewer"`
	State    string `json:"state"` // waiting, answered or missing
	Verdict  string `json:"verdict"`
	Summary  string `json:"summary"`
	Issues   int    `json:"issues"`
	Late     bool   `json:"late"`
	Note     string `json:"note"`
}

// Concern is an open concern.
type Concern struct {
	Reviewer string `json:"reviewer"`
	Summary  string `json:"summary"`
}

// Finding is a finding of the newest report.
type Finding struct {
	ID             string `json:"id"`
	Severity       string `json:"severity"`
	GateSeverity   string `json:"gate_severity"`
	Path           string `json:"path"`
	Line           int    `json:"line"`
	Title          string `json:"title"`
	Message        string `json:"message"`
	Recommendation string `json:"recommendation"`
	Agent          string `json:"agent"`
	RuleID         string `json:"rule_id"`
}

// UnderWay reports whether something is under way on a pull request; see State.Settled. The error is
// ports.ErrNotFound if the pull request is unknown.
func (k *Keeper) UnderWay(ctx context.Context, t ports.Target) (bool, error) {
	target, row, err := k.rows(ctx, t.Key())
	return err == nil && underWay(&target, &row) != "", err
}

// rows reads a target and its session, which is empty before the first event.
func (k *Keeper) rows(ctx context.Context, key string) (target ports.TargetState, row ports.SessionRow, err error) {
	if target, err = k.Targets.Target(ctx, key); err != nil {
		return target, row, err
	}
	row, err = k.Sessions.Session(ctx, key)
	if err != nil && !errors.Is(err, ports.ErrNotFound) {
		return target, row, fmt.Errorf("read the session: %w", err)
	}
	return target, row, nil
}

// State returns the state of a pull request, or ports.ErrNotFound.
func (k *Keeper) State(ctx context.Context, t ports.Target) (State, error) {
	target, row, err := k.rows(ctx, t.Key())
	if err != nil {
		return State{}, err
	}
	r, err := k.History.LatestReview(ctx, t.Key())
	if err != nil {
		return State{}, fmt.Errorf("read the newest review: %w", err)
	}
	s := State{
		Repository: target.Owner + "/" + target.Name, Number: target.Number, HeadSHA: target.HeadSHA, Status: row.State.Status(),
		Reasons: []string{}, Reviewers: []Reviewer{}, Concerns: []Concern{}, Findings: []Finding{},
		URL: fmt.Sprintf("%s/%s/%s/pull/%d", k.WebURL, target.Owner, target.Name, target.Number),
	}
	s.ofSession(&row)
	s.ofReview(r)
	if err := k.live(ctx, &s, &row, t.Key()); err != nil {
		return State{}, err
	}
	if s.Detail = underWay(&target, &row); s.Detail == "" {
		s.Settled, s.Detail = true, unreviewed(&target, r)
		switch {
		case s.Detail != "" || s.Cycle == nil:
		case s.Cycle.State == CycleStalled:
			s.Detail = fmt.Sprintf("cycle %d waits for the next review: the check says why", s.Cycle.Number)
		case s.Cycle.State == CycleEnded:
			s.Detail = fmt.Sprintf("no reviewer was asked in cycle %d: no policy dispatched one for this change, other than the agents that reported", s.Cycle.Number)
		}
	}
	return s, nil
}

// ofSession fills in the session's state.
func (s *State) ofSession(row *ports.SessionRow) {
	st := &row.State
	if st.Cycle > 0 {
		rule := st.Rule
		s.DecidedSHA = st.HeadSHA
		s.Rule, s.Action, s.DecidedCycle = &rule, string(policy.Action(st)), st.Cycle
	}
	s.Reasons = append(s.Reasons, Reasons(st)...)
	if st.Pause != nil {
		s.Clarification = st.Pause.Clarification
	}
	for _, c := range st.Concerns {
		s.Concerns = append(s.Concerns, Concern{c.Reviewer, c.Summary})
	}
	s.Flagged = !st.Paused() && len(s.Concerns) > 0
	c := &row.Cycle
	switch {
	case row.Pending > 0 && !row.UnderReview():
		s.Cycle = &Cycle{Number: c.Number + 1, State: CycleGathering, Triggers: []string{}, Events: []string{}}
	case c.Number > 0:
		s.Cycle = &Cycle{Number: c.Number, State: CycleEnded, Triggers: []string{}, Events: list(c.Events)}
		for _, t := range c.Triggers {
			s.Cycle.Triggers = append(s.Cycle.Triggers, string(t))
		}
		if st.Cycle == c.Number {
			s.Cycle.State = CycleDecided
		}
		if row.Stalled {
			s.Cycle.State = CycleStalled
		} else if row.Running {
			s.Cycle.State = CycleRunning
		}
	}
}

// Reasons says in words why a session is paused, one reason for each pause.
func Reasons(st *pipeline.SessionState) (out []string) {
	for _, p := range []*pipeline.SessionPause{st.Escalation, st.Pause} {
		if p != nil {
			out = append(out, reason(p))
		}
	}
	return out
}

func reason(p *pipeline.SessionPause) string {
	names := names(p.Reviewers)
	switch p.Rule {
	case 1:
		return fmt.Sprintf("rule 1: %s found a blocker; a person must comment /review resume", names)
	case 2:
		return fmt.Sprintf("rule 2: concerns of %s; settle them and report again", names)
	}
	return fmt.Sprintf("rule 0: no answer from %s; ask for a review again", names)
}

// names lists names, as in "a, b and c".
func names(all []string) string {
	switch n := len(all); n {
	case 0:
		return "a reviewer"
	case 1:
		return all[0]
	default:
		text := all[0]
		for _, name := range all[1 : n-1] {
			text += ", " + name
		}
		return text + " and " + all[n-1]
	}
}

// ofReview fills in what the newest published review says.
func (s *State) ofReview(r *ports.StoredReview) {
	if r == nil {
		return
	}
	rep := &r.Review.Report
	s.Decision, s.ReviewedSHA = string(rep.Decision), r.HeadSHA
	for i := range rep.Findings {
		for _, f := range rep.Findings[i].Places() {
			if len(s.Findings) == MaxFindings {
				s.FindingsMore++
				continue
			}
			s.Findings = append(s.Findings, Finding{
				ID: f.ID, Severity: string(f.Severity), GateSeverity: string(f.GateSeverity), Path: f.Path, Line: f.StartLine,
				Title: f.Title, Message: f.Message, Recommendation: f.Recommendation, Agent: f.Agent, RuleID: f.RuleID,
			})
		}
	}
	if rep.Session != nil && s.Cycle != nil && rep.Session.Cycle == s.Cycle.Number {
		for _, x := range rep.Session.Reviewers {
			s.Reviewers = append(s.Reviewers, Reviewer{x.Reviewer, string(x.State), string(x.Verdict), x.Summary, x.Issues, x.Late, x.Note})
		}
	}
}

// live replaces what the newest review knew about remote reviewers with what they have answered since.
func (k *Keeper) live(ctx context.Context, s *State, row *ports.SessionRow, key string) error {
	if !row.Running || row.HeadSHA == "" || s.Cycle.Number != row.Cycle.Number {
		return nil
	}
	all, err := k.Sessions.Requests(ctx, key, maxRequests)
	if err != nil {
		return fmt.Errorf("read the answers of reviewers: %w", err)
	}
	for i := range all {
		q := &all[i]
		if !q.Session || q.Cycle != row.Cycle.Number || q.HeadSHA != row.HeadSHA {
			continue
		}
		a := asked(q)
		if a.State == pipeline.AskedWaiting && (s.Cycle.Deadline == nil || a.Deadline.After(*s.Cycle.Deadline)) {
			s.Cycle.Deadline = &a.Deadline
		}
		x := Reviewer{Reviewer: a.Reviewer, State: string(a.State), Late: a.Late, Note: a.Note}
		if a.Answer != nil {
			x.Verdict, x.Summary, x.Issues = string(a.Answer.Verdict), a.Answer.Summary, len(a.Answer.Issues)
		}
		found := false
		for j := range s.Reviewers {
			if s.Reviewers[j].Reviewer == x.Reviewer {
				s.Reviewers[j], found = x, true
			}
		}
		if !found {
			s.Reviewers = append(s.Reviewers, x)
		}
	}
	return nil
}

// underWay says what is under way. It returns "" if nothing is.
func underWay(t *ports.TargetState, row *ports.SessionRow) string {
	switch {
	case t.Closed:
		return ""
	case row.UnderReview():
		return fmt.Sprintf("cycle %d is under review", row.Cycle.Number)
	case row.Pending > 0:
		return plaintext.Count(row.Pending, "event") + " waiting for the next cycle"
	case t.Wanted > t.Done:
		return "a review is under way"
	}
	return ""
}

// unreviewed says why there is no review of the newest head. It returns "" if there is one.
func unreviewed(t *ports.TargetState, r *ports.StoredReview) string {
	switch {
	case t.Closed:
		return "the pull request is closed"
	case t.GaveUp && t.Result != "":
		return "the review could not be completed: " + t.Result
	case t.GaveUp:
		return "the review could not be completed: the check says why"
	case r == nil || r.HeadSHA != t.HeadSHA:
		return "the newest head was not reviewed: the check says why"
	}
	return ""
}
