package sessions

import (
	"cmp"
	"slices"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/fourrules"
)

// MaxConcerns is how many open concerns a session keeps, one for each reviewer.
const MaxConcerns = 50

// Cycle is what the reviewers of a cycle answered about a head.
type Cycle struct {
	Number  int
	HeadSHA string
	// Asked are the reviewers who were asked, each once, in any order.
	Asked []Reviewer
	// Reviewers are the names of all reviewers of sessions, whether or not they were asked in this
	// cycle. Concerns of others are dropped.
	Reviewers []string
}

// Reviewer is a reviewer who was asked. Result is nil if there is no valid answer. If Waiting is set, one
// may still come.
type Reviewer struct {
	Name    string
	Result  *fourrules.Result
	Waiting bool
}

// answer identifies what a reviewer answered. It is empty if the answer may still come.
func (r *Reviewer) answer() string {
	switch {
	case r.Result != nil:
		return r.Name + " " + string(r.Result.Payload.Verdict)
	case r.Waiting:
		return ""
	}
	return r.Name + " missing"
}

// Resume returns the state after people have resumed the session so many times. If the last time is new,
// it ends an escalation and a pause that its person saw, and settles the answers that this person saw.
// resumed reports whether it ended anything. Resume does not change s.
func Resume(s pipeline.SessionState, resumes int, saw *pipeline.SessionResume) (_ pipeline.SessionState, resumed bool) {
	if resumes <= s.Resumes || saw == nil {
		return s, false
	}
	s.Resumes = resumes
	if same(s.Escalation, saw.Escalation) {
		s.Escalation, resumed = nil, true
	}
	if same(s.Pause, saw.Pause) {
		s.Pause, resumed = nil, true
	}
	if resumed {
		s.Settled = slices.Clone(saw.Answers)
	}
	return s, resumed
}

// same reports whether two pauses have the same cycle, rule and reviewers.
func same(now, saw *pipeline.SessionPause) bool {
	return now != nil && saw != nil && now.Cycle == saw.Cycle && now.Rule == saw.Rule && slices.Equal(now.Reviewers, saw.Reviewers)
}

// Escalates reports whether a session is newly escalated.
func Escalates(before, after *pipeline.SessionState) bool {
	return after.Escalation != nil && !same(after.Escalation, before.Escalation)
}

// Pauses reports whether a session is newly paused, or paused for other reasons than before.
func Pauses(before, after *pipeline.SessionState) bool {
	return after.Pause != nil && !(same(after.Pause, before.Pause) && after.Pause.Clarification == before.Pause.Clarification)
}

// Action returns what the agents of a session must do. This need not be the action of its last decision:
// an older escalation still stops them.
func Action(s *pipeline.SessionState) fourrules.Action {
	switch {
	case s.Escalation != nil:
		return fourrules.StopAndEscalate
	case s.Pause != nil:
		return fourrules.PauseAndClarify
	case len(s.Concerns) > 0:
		return fourrules.LogAndContinue
	}
	return fourrules.Continue
}

// Next decides a cycle, and returns the state after the decision. decided is false, and the state stays
// the same, if nobody was asked, or if answers may still come and there is no blocker yet. Answers that a
// person has settled do not pause the session on their own; see unsettled. If nothing pauses it, the rule
// in the state is about all answers. Next does not change s.
func Next(s pipeline.SessionState, c Cycle) (_ pipeline.SessionState, d fourrules.Decision, decided bool) {
	if len(c.Asked) == 0 {
		return s, d, false
	}
	var settled pipeline.List[string]
	if s.Cycle == c.Number && s.HeadSHA == c.HeadSHA {
		settled = s.Settled
	}
	var heard []Reviewer
	for _, r := range c.Asked {
		if r.answer() != "" {
			heard = append(heard, r)
		}
	}
	open := unsettled(heard, settled)
	d = fourrules.Decision{Rule: 4, Action: fourrules.Continue, Status: fourrules.Running} // everything is settled
	if len(open) > 0 {
		d = decide(open)
	}
	if len(heard) < len(c.Asked) && d.Rule != 1 {
		return s, fourrules.Decision{}, false
	}
	s.Cycle, s.HeadSHA, s.Rule, s.Settled, s.Answers = c.Number, c.HeadSHA, d.Rule, settled, nil
	if d.Status == fourrules.Running && len(open) < len(heard) {
		s.Rule = decide(heard).Rule
	}
	for i := range heard {
		s.Answers = append(s.Answers, heard[i].answer())
	}
	slices.Sort(s.Answers)
	s.Concerns = concerns(s.Concerns, c)
	return paused(s, &d, open, c), d, true
}

// unsettled returns the answers that may pause a session. A blocker or a missing answer that a person has
// settled may not. A settled concern may as soon as another reviewer has a new one, because the person has
// not seen both.
func unsettled(heard []Reviewer, settled []string) (open []Reviewer) {
	isSettled := func(r *Reviewer) bool { return slices.Contains(settled, r.answer()) }
	concern := func(r *Reviewer) bool { return r.Result != nil && r.Result.Payload.Verdict == fourrules.Concerns }
	another := slices.ContainsFunc(heard, func(r Reviewer) bool { return concern(&r) && !isSettled(&r) })
	for i := range heard {
		if r := &heard[i]; !isSettled(r) || concern(r) && another {
			open = append(open, *r)
		}
	}
	return open
}

// decide applies the four rules to answers.
func decide(reviewers []Reviewer) fourrules.Decision {
	var results []fourrules.Result
	var asked []string
	for i := range reviewers {
		asked = append(asked, reviewers[i].Name)
		if r := reviewers[i].Result; r != nil {
			results = append(results, *r)
		}
	}
	slices.Sort(asked)
	return fourrules.Decide(results, asked)
}

// paused returns the state with the pauses that follow from a decision. It never ends an escalation. A
// decision that does not pause the session ends its pause if everybody who caused the pause was asked: a
// reviewer that was not, because its own work is reviewed now, has not changed its mind about the rest.
func paused(s pipeline.SessionState, d *fourrules.Decision, open []Reviewer, c Cycle) pipeline.SessionState {
	by := func(verdict fourrules.Verdict) (names pipeline.List[string]) {
		for i := range open {
			if r := open[i].Result; r != nil && r.Payload.Verdict == verdict {
				names = append(names, open[i].Name)
			}
		}
		slices.Sort(names)
		return names
	}
	pause := pipeline.SessionPause{Cycle: s.Cycle, Rule: d.Rule, Clarification: d.Clarification}
	switch d.Rule {
	case 1:
		pause.Reviewers = by(fourrules.Blocker)
		s.Escalation = &pause
		if s.Pause != nil && s.Pause.Cycle == s.Cycle {
			s.Pause = nil // this decision replaces the one that paused
		}
	case 2:
		pause.Reviewers = by(fourrules.Concerns)
		s.Pause = &pause
	case 0:
		pause.Reviewers = d.Missing
		s.Pause = &pause
	default:
		if s.Pause == nil || !slices.ContainsFunc(s.Pause.Reviewers, c.passedOver) {
			s.Pause = nil
		}
	}
	return s
}

// passedOver reports whether a reviewer of sessions was not asked in the cycle.
func (c *Cycle) passedOver(name string) bool {
	return slices.Contains(c.Reviewers, name) && !slices.ContainsFunc(c.Asked, func(r Reviewer) bool { return r.Name == name })
}

// concerns returns the open concerns after a cycle. It drops those of reviewers who approve, and those of
// reviewers that the config no longer names.
func concerns(open pipeline.List[pipeline.SessionConcern], c Cycle) pipeline.List[pipeline.SessionConcern] {
	open = slices.DeleteFunc(slices.Clone(open), func(x pipeline.SessionConcern) bool { return !slices.Contains(c.Reviewers, x.Reviewer) })
	for i := range c.Asked {
		r := &c.Asked[i]
		if r.Result == nil || r.Result.Payload.Verdict == fourrules.Blocker {
			continue
		}
		open = slices.DeleteFunc(open, func(x pipeline.SessionConcern) bool { return x.Reviewer == r.Name })
		if r.Result.Payload.Verdict == fourrules.Concerns {
			p := &r.Result.Payload
			open = append(open, pipeline.SessionConcern{Reviewer: r.Name, Cycle: c.Number, Summary: p.Summary, Issues: len(p.Issues)})
		}
	}
	slices.SortFunc(open, func(a, b pipeline.SessionConcern) int { return cmp.Compare(a.Reviewer, b.Reviewer) })
	if len(open) > MaxConcerns {
		open = open[:MaxConcerns]
	}
	if len(open) == 0 {
		return nil
	}
	return open
}
