package backtest

import (
	"fmt"
	"slices"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
)

// chain is the reviews of one pull request, in order. Each is computed with what the same config
// made of the one before it.
type chain struct {
	key     string
	before  map[string]*pipeline.PreviousReport // by head, under the proposal
	against map[string]*pipeline.PreviousReport // by head, under what it is compared with
	newest  counted                             // the last review
	pending []*pending
	gained  map[string]*gain // by fingerprint
	lost    map[string]bool
}

// counted is a review in the tally.
type counted struct {
	head       string
	from, to   pipeline.Decision
	unknown    pipeline.List[string]
	incomplete bool
}

// pending is a changed decision, until it is known what people did.
type pending struct {
	Change
	ids                 map[string]bool // of the findings that decide
	overrode, dismissed bool
	there               bool   // in the newest review
	newest              string // its head
}

// gain is a finding that only the other config makes.
type gain struct{ finding pipeline.Finding }

func newChain(key string) *chain {
	return &chain{key: key, before: map[string]*pipeline.PreviousReport{}, against: map[string]*pipeline.PreviousReport{}, gained: map[string]*gain{}, lost: map[string]bool{}}
}

// add takes in a review and what it is under the other config. It replaces an earlier review of the
// same head.
func (c *chain) add(out *tally, s *ports.StoredReview, before, after side) {
	was, now := before.report, after.report
	incomplete := len(s.Review.Facts.Incomplete) > 0
	from := before.decision(false)
	to := after.decision(incomplete && now.Decision != from)
	if c.newest.head == s.HeadSHA {
		out.count(&c.newest, -1)
		c.pending = slices.DeleteFunc(c.pending, func(p *pending) bool { return p.Head == s.HeadSHA })
	}
	c.newest = counted{s.HeadSHA, from, to, after.unknown, incomplete}
	out.count(&c.newest, 1)
	c.findings(out, was, now)
	c.follow(s, was, now)
	if from == DecisionUnknown || to == DecisionUnknown || from.Blocks() == to.Blocks() {
		return
	}
	p := &pending{ids: map[string]bool{}, newest: s.HeadSHA, there: true}
	p.Change = Change{Run: s.RunID, Pull: pullOf(&s.Review.Facts), Head: s.HeadSHA, From: from, To: to}
	decisive, gate := only(now.Findings, was.Findings), now.Gate
	if from.Blocks() {
		decisive, gate = only(was.Findings, now.Findings), was.Gate
	}
	p.Because = because(decisive, gate.Condition)
	for i := range decisive {
		p.ids[decisive[i].ID] = true
	}
	p.note(s)
	c.pending = append(c.pending, p)
}

// DecisionUnknown is the decision of a review that depends on what is not stored.
const DecisionUnknown pipeline.Decision = "unknown"

// decision returns what the gate decides, without a person. What is unknown can only make it
// stricter, so it is unknown unless it blocks.
func (s side) decision(incomplete bool) pipeline.Decision {
	decision := s.report.Decision
	if s.report.ByHand != nil {
		decision = s.report.ByHand.Gate
	}
	if !decision.Blocks() && (incomplete || len(s.unknown) > 0) {
		return DecisionUnknown
	}
	return decision
}

// follow notes in the earlier changed decisions what people did since.
func (c *chain) follow(s *ports.StoredReview, was, now *pipeline.Report) {
	for _, p := range c.pending {
		p.note(s)
		findings := now.Findings
		if p.From.Blocks() {
			findings = was.Findings
		}
		p.newest = s.HeadSHA
		p.there = len(p.ids) == 0 || slices.ContainsFunc(findings, func(f pipeline.Finding) bool {
			return slices.ContainsFunc(f.Fingerprints, func(id string) bool { return p.ids[id] })
		})
	}
}

// note takes people's decisions from a review.
func (p *pending) note(s *ports.StoredReview) {
	memory := &s.Review.Memory
	if memory.ByHand != nil && memory.ByHand.Action == pipeline.HandOverride && s.HeadSHA == p.Head {
		p.overrode = true
	}
	p.dismissed = p.dismissed || slices.ContainsFunc(memory.Dismissed, func(d pipeline.Dismissal) bool { return p.ids[d.Fingerprint] })
}

// findings counts what only one of the configs finds, once for each pull request.
func (c *chain) findings(out *tally, was, now *pipeline.Report) {
	for _, f := range only(now.Findings, was.Findings) {
		if c.gained[f.ID] == nil {
			c.gained[f.ID] = &gain{f}
			out.of(&f).Gained++
		}
	}
	for _, f := range only(was.Findings, now.Findings) {
		if !c.lost[f.ID] {
			c.lost[f.ID] = true
			out.of(&f).Lost++
		}
	}
	for _, f := range now.Changes.Resolved {
		if g := c.gained[f.ID]; g != nil {
			out.of(&g.finding).LaterChanged++
			c.gained[f.ID] = &gain{} // counted
		}
	}
}

// end says what became of the changed decisions. No further review of the pull request follows.
func (c *chain) end(out *tally, closed, merged bool) {
	for _, p := range c.pending {
		p.People = p.people(closed, merged)
		out.changed(p.Change)
	}
}

func (p *pending) people(closed, merged bool) People {
	switch {
	case p.overrode:
		return PeopleOverrode
	case p.dismissed:
		return PeopleDismissed
	case p.newest != p.Head && !p.there:
		return PeopleFixed
	case merged:
		return PeopleMerged
	case closed:
		return PeopleClosed
	}
	return PeopleNothing
}

// only returns the findings that none of the others is, by any of their fingerprints.
func only(findings, others []pipeline.Finding) (out []pipeline.Finding) {
	has := map[string]bool{}
	for i := range others {
		for _, id := range others[i].Fingerprints {
			has[id] = true
		}
	}
	for i := range findings {
		if !slices.ContainsFunc(findings[i].Fingerprints, func(id string) bool { return has[id] }) {
			out = append(out, findings[i])
		}
	}
	return out
}

// because names the worst of the findings that decide, or the gate's condition if none does.
func because(decisive []pipeline.Finding, condition string) string {
	if len(decisive) == 0 {
		return "the gate's condition " + condition
	}
	worst := slices.MaxFunc(decisive, func(a, b pipeline.Finding) int { return a.GateSeverity.Rank() - b.GateSeverity.Rank() })
	place := worst.Path
	if place == "" {
		place = worst.Section
	} else if worst.StartLine > 0 {
		place = fmt.Sprintf("%s:%d", place, worst.StartLine)
	}
	text := fmt.Sprintf("%s, %s, at %s", worst.Title, worst.GateSeverity, place)
	if more := len(decisive) - 1; more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	return text
}

// pullOf names a pull request, such as acme/shop#104.
func pullOf(facts *pipeline.PRFacts) string {
	return fmt.Sprintf("%s#%d", facts.Repository.FullName(), facts.Number)
}
