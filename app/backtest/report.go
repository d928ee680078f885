package backtest

import (
	"cmp"
	"maps"
	"slices"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
)

// Report is what a proposal changes.
type Report struct {
	Reviews   int                       `json:"reviews"`   // computed, the newest one of each head
	Decisions pipeline.List[Transition] `json:"decisions"` // by number, then name
	// Blocked are the reviews that newly block, Passing those that newly pass, and Other those whose
	// decision changes without that. There are at most MaxListed of each; More counts the others.
	// Overridden counts, listed or not, those where people overrode the gate.
	Blocked           pipeline.List[Change]  `json:"newly_blocked"`
	BlockedMore       int                    `json:"newly_blocked_more"`
	BlockedOverridden int                    `json:"newly_blocked_overridden"`
	Passing           pipeline.List[Change]  `json:"newly_passing"`
	PassingMore       int                    `json:"newly_passing_more"`
	PassingOverridden int                    `json:"newly_passing_overridden"`
	Other             pipeline.List[Change]  `json:"otherwise_changed"`
	OtherMore         int                    `json:"otherwise_changed_more"`
	Unnamed           int                    `json:"-"`        // of all, those that Backtester.Named excludes
	Findings          pipeline.List[Finding] `json:"findings"` // those that changed, by agent, then rule
	// Unknown counts the reviews in which something is unknown, by what that is. Incomplete counts
	// the reviews with incomplete facts.
	Unknown    pipeline.List[Unknown] `json:"unknown"`
	Incomplete int                    `json:"incomplete"`
	// Ignored are settings of the proposal that don't count, because they would loosen what the
	// server's config says. There are at most MaxListed.
	Ignored pipeline.List[string] `json:"ignored"`
	// Evaluated are the ids of the rules, policies and agents that are in evaluation with the
	// proposal, and therefore change nothing, sorted. There are at most MaxListed.
	Evaluated pipeline.List[string] `json:"in_evaluation"`
	// Failed are reviews that could not be computed, at most MaxListed.
	Failed     pipeline.List[Failed] `json:"failed"`
	FailedMore int                   `json:"failed_more"`
}

// MaxListed bounds each list of reviews.
const MaxListed = 100

// Transition counts the reviews with one decision in force and one under the proposal, which may be
// DecisionUnknown.
type Transition struct {
	From    pipeline.Decision `json:"from"`
	To      pipeline.Decision `json:"to"`
	Reviews int               `json:"reviews"`
}

// Change is a review whose gate decides otherwise.
type Change struct {
	Run     string            `json:"run"`
	Pull    string            `json:"pull"` // such as acme/shop#104
	Head    string            `json:"head"`
	From    pipeline.Decision `json:"from"`
	To      pipeline.Decision `json:"to"`
	Because string            `json:"because"` // the finding or the condition that decides
	People  People            `json:"people"`
}

// People is what people did with a head after its review.
type People string

// What people did, as far as later reviews and events say so.
const (
	PeopleOverrode  People = pipeline.PeopleOverrode
	PeopleDismissed People = pipeline.PeopleDismissed
	PeopleAccepted  People = pipeline.PeopleAccepted
	PeopleFixed     People = pipeline.PeopleFixed
	PeopleMerged    People = pipeline.PeopleMerged
	PeopleClosed    People = pipeline.PeopleClosed
	PeopleEnded     People = pipeline.PeopleEnded
	PeopleNothing   People = pipeline.PeopleNothing
)

// Finding counts what only one of the configs finds by one rule, or by an agent's findings without
// a rule. A finding counts once for each pull request.
type Finding struct {
	Agent  string `json:"agent"`
	Rule   string `json:"rule"` // or empty
	Gained int    `json:"gained"`
	Lost   int    `json:"lost"`
	// Regraded counts findings of both configs that the gate weighs with another severity.
	Regraded int `json:"regraded"`
	// LaterChanged counts those of Gained that were gone at a later head, because the code changed.
	LaterChanged int `json:"later_changed"`
}

// Unknown counts the reviews in which one thing is unknown.
type Unknown struct {
	What    string `json:"what"`
	Reviews int    `json:"reviews"`
}

// Failed is a review that could not be computed.
type Failed struct {
	Run  string `json:"run"`
	Pull string `json:"pull"` // or empty
	Why  string `json:"why"`
}

// Changed is the number of reviews with another decision. Unknown ones don't count.
func (r *Report) Changed() (n int) {
	for _, t := range r.Decisions {
		if t.To != t.From && t.To != DecisionUnknown && t.From != DecisionUnknown {
			n += t.Reviews
		}
	}
	return n
}

// UnknownReviews is the number of reviews whose decision is unknown under one of the configs.
func (r *Report) UnknownReviews() (n int) {
	for _, t := range r.Decisions {
		if t.To == DecisionUnknown || t.From == DecisionUnknown {
			n += t.Reviews
		}
	}
	return n
}

// tally collects a report.
type tally struct {
	Report
	decisions map[Transition]int
	findings  map[[2]string]*Finding
	unknowns  map[string]int
}

func newTally() *tally {
	return &tally{decisions: map[Transition]int{}, findings: map[[2]string]*Finding{}, unknowns: map[string]int{}}
}

// count adds a review, or takes it back if n is -1.
func (t *tally) count(c *counted, n int) {
	t.Reviews += n
	t.decisions[Transition{From: c.from, To: c.to}] += n
	for _, what := range slices.Compact(slices.Clone(c.unknown)) {
		t.unknowns[what] += n
	}
	if c.incomplete {
		t.Incomplete += n
	}
}

func (t *tally) of(f *pipeline.Finding) *Finding {
	key := [2]string{f.Agent, f.RuleID}
	if t.findings[key] == nil {
		t.findings[key] = &Finding{Agent: f.Agent, Rule: f.RuleID}
	}
	return t.findings[key]
}

// changed counts a changed decision, and lists it if it may be named.
func (t *tally) changed(c Change, named bool) {
	list, more, overridden := &t.Passing, &t.PassingMore, &t.PassingOverridden
	switch {
	case c.To.Blocks() == c.From.Blocks():
		list, more, overridden = &t.Other, &t.OtherMore, new(int)
	case c.To.Blocks():
		list, more, overridden = &t.Blocked, &t.BlockedMore, &t.BlockedOverridden
	}
	if c.People == PeopleOverrode {
		*overridden++
	}
	if !named {
		t.Unnamed++
	}
	if !named || len(*list) == MaxListed {
		*more++
		return
	}
	*list = append(*list, c)
}

func (t *tally) ignored(what string) {
	if len(t.Ignored) < MaxListed && !slices.Contains(t.Ignored, what) {
		t.Ignored = append(t.Ignored, what)
	}
}

// evaluated notes what a config has in evaluation.
func (t *tally) evaluated(cfg *config.Config) {
	for _, id := range cfg.Evaluated() {
		if len(t.Evaluated) < MaxListed && !slices.Contains(t.Evaluated, id) {
			t.Evaluated = append(t.Evaluated, id)
		}
	}
}

func (t *tally) failed(f Failed) {
	if len(t.Failed) == MaxListed {
		t.FailedMore++
		return
	}
	t.Failed = append(t.Failed, f)
}

// report returns what was collected, in order.
func (t *tally) report() *Report {
	for d, n := range t.decisions {
		if d.Reviews = n; n > 0 {
			t.Decisions = append(t.Decisions, d)
		}
	}
	slices.SortFunc(t.Decisions, func(a, b Transition) int {
		return cmp.Or(b.Reviews-a.Reviews, cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
	slices.Sort(t.Evaluated)
	for _, f := range t.findings {
		t.Findings = append(t.Findings, *f)
	}
	slices.SortFunc(t.Findings, func(a, b Finding) int { return cmp.Or(cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.Rule, b.Rule)) })
	for _, what := range slices.Sorted(maps.Keys(t.unknowns)) {
		if n := t.unknowns[what]; n > 0 {
			t.Unknown = append(t.Unknown, Unknown{what, n})
		}
	}
	return &t.Report
}
