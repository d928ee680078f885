package analytics

import (
	"cmp"
	"slices"

	"github.com/reviewgate/reviewgate/policies/learning"
)

// key tells the groups of a table apart.
type key struct {
	name, agent, prompt, category string
	repository                    int64 // whose name is only known at the end
}

func (a key) compare(b key) int {
	return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.agent, b.agent), cmp.Compare(a.prompt, b.prompt), cmp.Compare(a.category, b.category),
		cmp.Compare(a.repository, b.repository))
}

// verdict is the judgement on a group in one pull request. A greater one replaces a smaller one.
type verdict int

const (
	unseen verdict = iota
	unjudged
	right
	wrong
)

// judge returns what a shown finding says about those who made it.
func judge(f *learning.Followed) verdict {
	switch {
	case f.FalsePositive():
		return wrong
	case f.TruePositive():
		return right
	}
	return unjudged
}

// group counts the findings of a row.
type group struct {
	key
	Findings
	pulls           int
	blocking, other Precision // without shares
	fixes           []int32   // seconds from the first review that had a finding to its fix
	reviews, missed int
	cost            int64 // in billionths of a dollar, so that sums do not depend on the order

	// Of the pull request that is being read:
	touched      bool
	now          [2]verdict // on blocking and on other findings
	nowSomething bool       // a finding was shown
}

// take counts a finding of the pull request that is being read.
func (g *group) take(f *learning.Followed) {
	if !counts(f) {
		g.Unshown++
		return
	}
	g.Shown++
	g.nowSomething = true
	if n := g.Outcomes.of(f.Outcome); n != nil {
		*n++
	}
	if f.Outcome == learning.OutcomeDismissed {
		*g.Dismissals.of(f.Judged.Judged.Class)++
	}
	if f.Outcome == learning.OutcomeFixed && !f.GoneAt.IsZero() {
		g.fixes = append(g.fixes, seconds(f.GoneAt.Sub(f.FirstAt)))
	}
	at := &g.now[1]
	if f.Blocks() {
		at = &g.now[0]
	}
	*at = max(*at, judge(f))
}

// counts reports whether a finding was shown and is not hidden now.
func counts(f *learning.Followed) bool { return f.Shown && f.Outcome != learning.OutcomeUnshown }

// endPull takes in the judgements on the pull request that was read.
func (g *group) endPull() {
	if g.nowSomething {
		g.pulls++
	}
	for i, p := range []*Precision{&g.blocking, &g.other} {
		if g.now[i] >= unjudged {
			p.Shown++
		}
		if g.now[i] >= right {
			p.Judged++
		}
		if g.now[i] == right {
			p.Right++
		}
	}
	g.touched, g.now, g.nowSomething = false, [2]verdict{}, false
}

// merge adds what another worker counted.
func (g *group) merge(o *group) {
	g.Findings.merge(&o.Findings)
	g.pulls += o.pulls
	g.blocking.add(o.blocking)
	g.other.add(o.other)
	g.fixes = append(g.fixes, o.fixes...)
	g.reviews, g.missed, g.cost = g.reviews+o.reviews, g.missed+o.missed, g.cost+o.cost
}

func (f *Findings) merge(o *Findings) {
	f.Shown, f.Unshown = f.Shown+o.Shown, f.Unshown+o.Unshown
	a, b := &f.Outcomes, &o.Outcomes
	for _, n := range [][2]*int{
		{&a.Fixed, &b.Fixed}, {&a.Accepted, &b.Accepted}, {&a.Dismissed, &b.Dismissed}, {&a.Withdrawn, &b.Withdrawn}, {&a.Obsolete, &b.Obsolete},
		{&a.NotRaised, &b.NotRaised}, {&a.Overridden, &b.Overridden}, {&a.MergedOpen, &b.MergedOpen}, {&a.Closed, &b.Closed}, {&a.Open, &b.Open},
		{&f.Dismissals.FalsePositive, &o.Dismissals.FalsePositive}, {&f.Dismissals.WontFix, &o.Dismissals.WontFix},
		{&f.Dismissals.Duplicate, &o.Dismissals.Duplicate}, {&f.Dismissals.Other, &o.Dismissals.Other},
	} {
		*n[0] += *n[1]
	}
}

// row returns what was counted.
func (g *group) row(by By) Row {
	r := Row{
		Name: g.name, Agent: g.agent, Prompt: g.prompt, Category: g.category, PullRequests: g.pulls, Findings: g.Findings,
		Blocking: g.blocking, Other: g.other, MedianFixSeconds: median(g.fixes),
	}
	r.Blocking.decide()
	r.Other.decide()
	if n := r.Final(); n > 0 {
		share := float64(r.Addressed()) / float64(n)
		r.AddressedShare = &share
	}
	switch by {
	case ByService, ByRepository, ByWeek:
		r.Reviews = &g.reviews
	case ByModel:
		r.Missed = &g.missed
		fallthrough
	case ByAgent:
		if g.cost == 0 {
			break // no model was asked, or the price is unknown
		}
		cost := dollars(g.cost)
		r.CostUSD = &cost
		if n := r.Addressed(); n > 0 {
			each := cost / float64(n)
			r.CostPerAddressed = &each
		}
	}
	return r
}

func dollars(billionths int64) float64 { return float64(billionths) / 1e9 }

// median returns the middle value, or the mean of the two in the middle, or nil if there are no values.
// It sorts the values.
func median(of []int32) *int64 {
	if len(of) == 0 {
		return nil
	}
	slices.Sort(of)
	n := len(of)
	m := (int64(of[(n-1)/2]) + int64(of[n/2])) / 2
	return &m
}

// p90 returns the smallest value that at least nine in ten do not exceed, or nil if there are no values.
// It sorts the values.
func p90(of []int32) *int64 {
	if len(of) == 0 {
		return nil
	}
	slices.Sort(of)
	v := int64(of[(9*len(of)+9)/10-1])
	return &v
}
