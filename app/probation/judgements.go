package probation

import (
	"cmp"
	"slices"
	"time"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/policies/learning"
)

// What it takes to propose a rule or an agent for evaluation, in addition to its precision.
const (
	minJudged = 20 // pull requests with a judgement
	minPeople = 3  // who are not authors and dismissed a finding as a false positive
)

// tally is how a rule or an agent was judged: in how many pull requests, in how many of those it was
// right, and how many people who are not authors said that it was wrong.
type tally struct{ judged, right, people int }

// tooOften returns the precision and the upper end of its interval of 95 %, and whether there are
// enough judgements to say that it is below the bar. Three people must agree that it is wrong: what
// one person dismisses again and again is that person's opinion.
func (t tally) tooOften(bar float64) (precision, high float64, is bool) {
	if t.judged == 0 {
		return 0, 1, false
	}
	_, high = learning.Wilson(t.right, t.judged)
	return float64(t.right) / float64(t.judged), high, t.judged >= minJudged && t.people >= minPeople && high < bar
}

// source is who made findings: an agent by one of its rules or without one. other is set for findings
// that are another agent's in the first place.
type source struct {
	rule, agent string
	other       bool
}

// judgements is what became of a repository's findings since a time, by source.
type judgements struct {
	since time.Time
	pulls int
	of    map[source]*judged
}

// judged is what became of the findings of a source.
type judged struct {
	verdicts []verdict // one for each pull request that has a judgement, in their order
	people   map[string]bool
	blocks   bool
	samples  []ports.ProbationSample
}

// verdict is the judgement in a pull request: wrong if any finding was.
type verdict struct {
	pull  int
	wrong bool
}

// add takes in a pull request.
func (j *judgements) add(h *learning.History) {
	j.pulls++
	for i := range h.Findings {
		f := &h.Findings[i]
		if f.FirstAt.Before(j.since) || !f.Shown || f.Outcome == learning.OutcomeUnshown {
			continue
		}
		j.source(source{f.Rule, f.Agent, false}).add(j.pulls, h.Number, f)
		for k, agent := range f.Others {
			if agent != f.Agent && !slices.Contains(f.Others[:k], agent) {
				j.source(source{f.Rule, agent, true}).add(j.pulls, h.Number, f)
			}
		}
	}
}

func (j *judgements) source(s source) *judged {
	if j.of == nil {
		j.of = map[source]*judged{}
	}
	if j.of[s] == nil {
		j.of[s] = &judged{people: map[string]bool{}}
	}
	return j.of[s]
}

// add counts a finding. A fix is not a judgement by its author, but it proves that the finding was right.
func (j *judged) add(pull, number int, f *learning.Followed) {
	j.blocks = j.blocks || f.Blocks()
	if f.Judged != nil && f.Judged.Judged.Own || !f.FalsePositive() && !f.TruePositive() {
		return
	}
	wrong := f.FalsePositive()
	if wrong {
		j.people[f.Judged.Judged.Person] = true
	}
	j.judge(verdict{pull, wrong})
	j.sample(ports.ProbationSample{Number: number, Path: f.Path, Line: f.First, Outcome: f.Outcome})
}

func (j *judged) judge(v verdict) {
	if n := len(j.verdicts); n > 0 && j.verdicts[n-1].pull == v.pull {
		j.verdicts[n-1].wrong = j.verdicts[n-1].wrong || v.wrong
		return
	}
	j.verdicts = append(j.verdicts, v)
}

func (j *judged) sample(s ports.ProbationSample) {
	j.samples = append(j.samples, s)
	slices.SortFunc(j.samples, func(a, b ports.ProbationSample) int {
		return cmp.Or(rank(a.Outcome)-rank(b.Outcome), b.Number-a.Number, cmp.Compare(a.Path, b.Path), a.Line-b.Line)
	})
	j.samples = j.samples[:min(len(j.samples), ports.MaxProbationSamples)]
}

// rank is smaller for a finding that was wrong.
func rank(o learning.Outcome) int {
	if o == learning.OutcomeDismissed {
		return 0
	}
	return 1
}

// merged sums up the sources that are wanted.
func (j *judgements) merged(wanted func(source) bool) *judged {
	sum := &judged{people: map[string]bool{}}
	var all []verdict
	for s, x := range j.of {
		if !wanted(s) {
			continue
		}
		all = append(all, x.verdicts...)
		sum.blocks = sum.blocks || x.blocks
		for who := range x.people {
			sum.people[who] = true
		}
		for _, one := range x.samples {
			if !slices.Contains(sum.samples, one) {
				sum.sample(one)
			}
		}
	}
	slices.SortFunc(all, func(a, b verdict) int { return a.pull - b.pull })
	for _, v := range all {
		sum.judge(v)
	}
	return sum
}

func (j *judged) tally() tally {
	t := tally{judged: len(j.verdicts), people: len(j.people)}
	for _, v := range j.verdicts {
		if !v.wrong {
			t.right++
		}
	}
	return t
}

// tooOften returns the rules and agents that are wrong too often, each at most once: rules before agents,
// the worst first. proposable reports whether a rule of an agent, or an agent with an empty rule, may be
// proposed. Rules that are wrong too often don't count against their agent: it may be right without them.
func (j *judgements) tooOften(bar float64, proposable func(rule, agent string) bool) []ports.Probation {
	var rules, agents []ports.Probation
	wrong := map[string]bool{}
	names := map[string]bool{}
	for s, x := range j.of {
		names[s.agent] = true
		if s.rule == "" || s.other {
			continue
		}
		p, is := row(ports.ProbationRule, s.rule, x, bar)
		if !is {
			continue
		}
		wrong[s.rule] = true
		if proposable(s.rule, s.agent) {
			all := j.merged(func(o source) bool { return o.rule == s.rule && !o.other })
			p.Blocks, p.Samples = all.blocks, all.samples
			rules = append(rules, p)
		}
	}
	for agent := range names {
		x := j.merged(func(s source) bool { return s.agent == agent && !wrong[s.rule] })
		if p, is := row(ports.ProbationAgent, agent, x, bar); is && proposable("", agent) {
			agents = append(agents, p)
		}
	}
	return append(worst(rules), worst(agents)...)
}

// row returns a row, and whether it is one that is wrong too often.
func row(kind ports.ProbationKind, id string, x *judged, bar float64) (ports.Probation, bool) {
	t := x.tally()
	precision, high, is := t.tooOften(bar)
	return ports.Probation{
		Kind: kind, ID: id, Judged: t.judged, People: t.people, Precision: precision, High: high, Blocks: x.blocks, Samples: x.samples,
	}, is
}

// worst sorts rows, and keeps the worst of each id: several agents may have judgements of one rule.
func worst(rows []ports.Probation) (all []ports.Probation) {
	slices.SortFunc(rows, func(a, b ports.Probation) int {
		return cmp.Or(cmp.Compare(a.High, b.High), cmp.Compare(a.ID, b.ID), b.Judged-a.Judged, b.People-a.People)
	})
	for i := range rows {
		if !slices.ContainsFunc(all, func(p ports.Probation) bool { return p.ID == rows[i].ID }) {
			all = append(all, rows[i])
		}
	}
	return all
}
