package backtest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/lru"
)

// chain is the reviews of one pull request, in order. Each is computed with what the same config
// made of the one before it.
type chain struct {
	key     string
	unnamed bool                // the report only counts its reviews
	before  *reports            // under the proposal
	against *reports            // under what it is compared with
	heads   map[string]*counted // the review of each head that counts
	pending []*pending
	gained  map[string]*pipeline.Finding // by ID, until the code has changed
	told    map[string]bool              // "gained", "lost" or "regraded", and the ID
}

// reports are the last reports of a pull request under one config, by head. Of older heads the stored
// reports count: almost no review builds on them, and a pull request may have very many.
type reports = lru.Cache[string, *pipeline.PreviousReport]

const (
	maxReports  = 8
	maxDecisive = 100 // findings by which a later review shows what people did
)

// counted is a review in the tally.
type counted struct {
	from, to   pipeline.Decision
	unknown    pipeline.List[string]
	incomplete bool
	dismissed  int // findings that people had dismissed
}

// pending is a changed decision, until it is known what people did.
type pending struct {
	Change
	ids                 map[string]bool // of the findings that decide
	overrode, dismissed bool
	accepted            bool
	there               bool   // in the newest review
	newest              string // its head
}

func newChain(key string) *chain {
	return &chain{
		key: key, heads: map[string]*counted{},
		before:  lru.New[string, *pipeline.PreviousReport](maxReports, maxReports),
		against: lru.New[string, *pipeline.PreviousReport](maxReports, maxReports),
		gained:  map[string]*pipeline.Finding{}, told: map[string]bool{},
	}
}

// add takes in a review and what it is under the other config. It replaces an earlier review of the
// same head, unless people have dismissed findings since: the question is what the config decided
// before they did.
func (c *chain) add(out *tally, s *ports.StoredReview, before, after side) {
	was, now := before.report, after.report
	if !c.unnamed {
		c.findings(out, before, after)
	}
	c.follow(s, was, now)
	dismissed := len(s.Review.Memory.Dismissed)
	if earlier := c.heads[s.HeadSHA]; earlier != nil {
		if dismissed > earlier.dismissed {
			return
		}
		out.count(earlier, -1)
		c.pending = slices.DeleteFunc(c.pending, func(p *pending) bool { return p.Head == s.HeadSHA })
	}
	stored := side{report: &s.Review.Report}.decision(false)
	incomplete := len(s.Review.Facts.Incomplete) > 0
	from := before.decision(incomplete && before.report.Decision != stored)
	to := after.decision(incomplete && now.Decision != stored)
	var unknown pipeline.List[string]
	if !c.unnamed {
		unknown = slices.Concat(before.unknown, after.unknown)
	}
	slices.Sort(unknown)
	counted := &counted{from, to, slices.Compact(unknown), incomplete, dismissed}
	c.heads[s.HeadSHA] = counted
	out.count(counted, 1)
	if from == DecisionUnknown || to == DecisionUnknown || from == to {
		return
	}
	p := &pending{ids: map[string]bool{}, newest: s.HeadSHA, there: true}
	p.Change = Change{Run: s.RunID, Pull: s.Review.Facts.PullName(), Head: s.HeadSHA, From: from, To: to}
	decides, other := now, was
	if p.easier() {
		decides, other = was, now
	}
	decisive := decisive(decides.Findings, other.Findings)
	p.Because = because(decisive, decides)
	for i := range min(len(decisive), maxDecisive) {
		p.ids[decisive[i].ID] = true
	}
	p.note(s)
	c.pending = append(c.pending, p)
}

// DecisionUnknown is the decision of a review that depends on what is not stored.
const DecisionUnknown pipeline.Decision = "unknown"

// decision returns what the gate decides, without a person. Unknown results can usually only make it
// stricter. Then a decision that blocks is known.
func (s side) decision(incomplete bool) pipeline.Decision {
	decision := s.report.Decision
	if s.report.ByHand != nil {
		decision = s.report.ByHand.Gate
	}
	if s.either || !decision.Blocks() && (incomplete || len(s.unknown) > 0) {
		return DecisionUnknown
	}
	return decision
}

// follow notes in the earlier changed decisions what people did since.
func (c *chain) follow(s *ports.StoredReview, was, now *pipeline.Report) {
	for _, p := range c.pending {
		p.note(s)
		findings := now.Findings
		if p.easier() {
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
	p.accepted = p.accepted || slices.ContainsFunc(memory.Accepted, func(a pipeline.Acceptance) bool { return a.Ignore == "" && p.ids[a.Fingerprint] })
	p.dismissed = p.dismissed || slices.ContainsFunc(memory.Dismissed, func(d pipeline.Dismissal) bool { return p.ids[d.Fingerprint] })
}

// findings counts what only one of the configs finds, and what they grade differently, once for each
// pull request. It leaves out agents whose findings are unknown.
func (c *chain) findings(out *tally, before, after side) {
	tell := func(what string, f *pipeline.Finding) *Finding {
		if c.told[what+f.ID] || slices.Contains(before.agents, f.Agent) || slices.Contains(after.agents, f.Agent) {
			return &Finding{} // counts nowhere
		}
		c.told[what+f.ID] = true
		if what == "gained" {
			c.gained[f.ID] = f
		}
		return out.of(f)
	}
	was, now := before.report, after.report
	for _, f := range pipeline.OnlyIn(now.Findings, was.Findings) {
		tell("gained", &f).Gained++
	}
	for _, f := range pipeline.OnlyIn(was.Findings, now.Findings) {
		tell("lost", &f).Lost++
	}
	for _, f := range regraded(was.Findings, now.Findings) {
		tell("regraded", &f).Regraded++
	}
	for _, f := range now.Changes.Resolved {
		if g := c.gained[f.ID]; g != nil {
			out.of(g).LaterChanged++
			delete(c.gained, f.ID)
		}
	}
}

// regraded returns the findings of both reports that the gate weighs otherwise, as the second one has
// them.
func regraded(was, now []pipeline.Finding) (out []pipeline.Finding) {
	severity := map[string]pipeline.Severity{}
	for i := range was {
		severity[was[i].ID] = was[i].GateSeverity
	}
	for i := range now {
		if graded, both := severity[now[i].ID]; both && graded != now[i].GateSeverity {
			out = append(out, now[i])
		}
	}
	return out
}

// end says what became of the changed decisions. No further review of the pull request follows.
func (c *chain) end(out *tally, how ports.PullEnd) {
	for _, p := range c.pending {
		p.People = p.people(how)
		out.changed(p.Change, !c.unnamed)
	}
}

func (p *pending) people(how ports.PullEnd) People {
	switch {
	case p.overrode:
		return PeopleOverrode
	case p.dismissed:
		return PeopleDismissed
	case p.accepted:
		return PeopleAccepted
	case p.newest != p.Head && !p.there:
		return PeopleFixed
	}
	return map[ports.PullEnd]People{
		ports.PullOpen: PeopleNothing, ports.PullMerged: PeopleMerged, ports.PullClosed: PeopleClosed, ports.PullEnded: PeopleEnded,
	}[how]
}

// easier reports whether the decision became milder. Then the findings that decide are in the report
// that it is compared with.
func (c *Change) easier() bool { return c.To.Rank() < c.From.Rank() }

// decisive returns the findings that only the stricter report has or, without any, those that it
// takes more seriously or, without any, its worst.
func decisive(findings, others []pipeline.Finding) []pipeline.Finding {
	added, worstOf := pipeline.OnlyIn(findings, others), func(list []pipeline.Finding) (rank int) {
		for i := range list {
			rank = max(rank, list[i].GateSeverity.Rank())
		}
		return rank
	}
	if len(added) > 0 && worstOf(added) == worstOf(findings) {
		return added
	}
	rank := map[string]int{}
	for i := range others {
		rank[others[i].ID] = others[i].GateSeverity.Rank()
	}
	graver := slices.DeleteFunc(slices.Clone(findings), func(f pipeline.Finding) bool { return f.GateSeverity.Rank() <= rank[f.ID] })
	if len(graver) > 0 {
		return graver
	}
	worst := worstOf(findings) // the gate weighs the same findings differently
	return slices.DeleteFunc(slices.Clone(findings), func(f pipeline.Finding) bool { return f.GateSeverity.Rank() < worst })
}

// because names the worst of the findings that decide in a report. Without any, it names what is
// incomplete or the gate's condition.
func because(decisive []pipeline.Finding, r *pipeline.Report) string {
	if len(decisive) == 0 {
		for _, i := range r.Incomplete {
			if i.Gating {
				return strings.TrimSpace(strings.Join([]string{i.What, i.Path, i.Why}, " "))
			}
		}
		condition := r.Gate.Condition
		if r.ByHand != nil {
			condition = r.ByHand.GateCondition
		}
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
