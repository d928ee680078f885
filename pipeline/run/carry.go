package run

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
)

// Carry says which results of the last review may stand for those of agents,
// which then don't run. The zero value lets none.
//
// A result is carried only if the agent finished, and all that it was made of is
// known to be equal: the version of reviewgate, the config, the agent's entry in
// the manifest, and the facts but for the SHAs of commits and the time. From the
// review of another head, whose change against the merge base is equal, only
// results of agents that read nothing but the facts are, and where files have no
// text in these, none. One that reads the messages of commits needs these to be
// equal too: a branch that is brought up to date gets a commit more.
type Carry struct {
	// Last returns the newest review, or nil. It is asked only where a result of
	// it may be of use.
	Last func(ctx context.Context) (*LastReview, error)
	// SameHead says that results of a review of the same head may be carried;
	// without it somebody wants to see the agents run.
	SameHead bool
	// Anew are the agents that run in any case.
	Anew []string
}

// LastReview is a review and the version of reviewgate that made it.
type LastReview struct {
	Review  *pipeline.Review
	Version string
}

// lastReview is the review whose results may be carried, or nil.
func (r *Runner) lastReview(ctx context.Context, engine *Engine, v *pipeline.Review, o Options) (*LastReview, error) {
	c := o.Carry
	if c.Last == nil {
		return nil, nil
	}
	ofUse := gapModelOf(engine.config, o) != "" || slices.ContainsFunc(v.Manifest.Entries, func(e pipeline.ManifestEntry) bool {
		return !c.anew(e.Agent) && (c.SameHead || r.readsFactsAlone(engine, e.Agent))
	})
	if !ofUse {
		return nil, nil
	}
	last, err := c.Last(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the last review: %w", err)
	}
	return last, nil
}

// readsFactsAlone reports whether an agent's result is made of nothing but facts
// and config. Those that stand in for others are taken to.
func (r *Runner) readsFactsAlone(engine *Engine, agent string) bool {
	if r.Agents[agent] != nil {
		return true
	}
	for i := range engine.config.Agents {
		if a := &engine.config.Agents[i]; a.ID == agent {
			_, reviews := a.Reviewer() // documents, whole: the facts show what changed of them
			return a.Kind == config.KindRules || a.Kind == config.KindSecrets || a.StageOf() == pipeline.StageQuality && !reviews
		}
	}
	return false
}

// readsCommits reports whether an agent looks at the messages of commits. The
// agent for secrets looks at redactions, which are compared in any case.
func (r *Runner) readsCommits(engine *Engine, agent string) bool {
	return r.Agents[agent] != nil || engine.rules.ReadsCommits(agent)
}

// carried are results that stand for those of agents, by agent.
type carried map[string][]pipeline.AgentResult

// carry finds the results of the last review that stand.
func (r *Runner) carry(ctx context.Context, engine *Engine, v *pipeline.Review, last *LastReview, c Carry, o dispatch.Options) carried {
	sameHead, ok := r.stands(v, last, c)
	if !ok {
		return nil
	}
	was := last.Review
	commits := sameCommits(v.Facts.Commits, was.Facts.Commits)
	out := carried{}
	for i := range v.Manifest.Entries {
		e := &v.Manifest.Entries[i]
		before := was.Manifest.Entry(e.Agent)
		switch {
		case c.anew(e.Agent) || before == nil || !sameJSON(e, before):
		case !sameHead && !r.readsFactsAlone(engine, e.Agent):
		case !commits && r.readsCommits(engine, e.Agent):
		default:
			if results := finished(was, e.Agent, sameHead); results != nil {
				out[e.Agent] = results
			}
		}
	}
	for agent, results := range out {
		for i := range results {
			if !sameHead { // what is cited stands in files that the change leaves alone
				results[i].Citations = dispatch.Citations(ctx, results[i].Output.Findings, &v.Facts, o, agent)
			}
		}
	}
	return out
}

// stands reports whether the last review was of the same facts, so that what was
// made of nothing else stands, and whether it was of the same head.
func (r *Runner) stands(v *pipeline.Review, last *LastReview, c Carry) (sameHead, ok bool) {
	if last == nil || last.Version != r.Version {
		return false, false
	}
	was := last.Review
	sameHead = was.Facts.Head.SHA == v.Facts.Head.SHA
	if sameHead && !c.SameHead || !sameHead && !tellAll(&v.Facts) {
		return sameHead, false
	}
	return sameHead, sameFacts(&v.Facts, &was.Facts) && sameJSON(v.Classification, was.Classification)
}

// anew reports whether an agent runs in any case.
func (c Carry) anew(agent string) bool { return slices.Contains(c.Anew, agent) }

// finished are an agent's results in a review, if it came to its end in all of
// them. A finding about a commit's message names the commit, which another head
// may not have.
func finished(was *pipeline.Review, agent string, sameHead bool) []pipeline.AgentResult {
	var out []pipeline.AgentResult
	for _, r := range was.Results {
		if r.Agent != agent {
			continue
		}
		if r.Status != pipeline.AgentOK { // one that was not asked may be, now
			return nil
		}
		if !sameHead && slices.ContainsFunc(r.Output.Findings, aboutACommit) {
			return nil
		}
		if r.CarriedFrom == "" {
			r.CarriedFrom = was.Facts.Head.SHA
		}
		out = append(out, r)
	}
	return out
}

func aboutACommit(f pipeline.Finding) bool {
	return f.Path == "" && strings.HasPrefix(f.Section, pipeline.SectionCommit(""))
}

// without is the manifest of the agents that run.
func (c carried) without(m pipeline.AgentManifest) pipeline.AgentManifest {
	m.Entries = slices.DeleteFunc(slices.Clone(m.Entries), func(e pipeline.ManifestEntry) bool { return c[e.Agent] != nil })
	return m
}

// with puts what was carried among the results, in the manifest's order.
func (c carried) with(made pipeline.List[pipeline.AgentResult], m pipeline.AgentManifest) pipeline.List[pipeline.AgentResult] {
	var all pipeline.List[pipeline.AgentResult]
	for i := range m.Entries {
		agent := m.Entries[i].Agent
		all = append(all, c[agent]...)
		for _, r := range made {
			if r.Agent == agent {
				all = append(all, r)
			}
		}
	}
	return all
}

// timings are the lines of the record for agents that did not run.
func (c carried) timings() []pipeline.AgentTiming {
	var out []pipeline.AgentTiming
	for agent, results := range c {
		for _, r := range results {
			out = append(out, pipeline.AgentTiming{Agent: agent, Model: r.Model})
		}
	}
	return out
}

// tellAll reports whether facts hold all of a change that can differ: what could
// not be read might, and so might files without text.
func tellAll(f *pipeline.PRFacts) bool {
	return len(f.Incomplete) == 0 && !slices.ContainsFunc(f.Files, func(x pipeline.File) bool { return x.Binary })
}

// sameFacts compares facts without commits, their SHAs, and the time. Files are
// compared one by one: a large change is not encoded as a whole.
func sameFacts(a, b *pipeline.PRFacts) bool {
	if len(a.Files) != len(b.Files) || !sameJSON(lasting(a), lasting(b)) {
		return false
	}
	for i := range a.Files {
		if a.Files[i].Path != b.Files[i].Path || !sameJSON(&a.Files[i], &b.Files[i]) {
			return false
		}
	}
	return true
}

// SameChange reports whether two heads are known to make the same change: all text of
// both was read, and their lines and places are equal. With a secret in either nobody can
// tell.
func SameChange(a, b *pipeline.PRFacts) bool {
	return tellAll(a) && tellAll(b) && len(a.Redactions)+len(b.Redactions) == 0 &&
		slices.EqualFunc(a.Files, b.Files, func(x, y pipeline.File) bool { return x.Path == y.Path && sameJSON(&x, &y) })
}

func lasting(f *pipeline.PRFacts) pipeline.PRFacts {
	c := *f
	c.Files, c.Commits, c.Head.SHA, c.Base.SHA = nil, nil, "", ""
	c.ObservedAt = time.Time{}
	c.Redactions = slices.Clone(f.Redactions)
	for i := range c.Redactions {
		c.Redactions[i].Commit = ""
	}
	return c
}

// sameCommits compares commits but for their SHAs.
func sameCommits(a, b []pipeline.Commit) bool {
	return slices.EqualFunc(a, b, func(x, y pipeline.Commit) bool {
		x.SHA, y.SHA = "", ""
		return x == y
	})
}

// sameJSON compares as stored: what was read back has empty lists for none.
func sameJSON(a, b any) bool {
	x, err := json.Marshal(a)
	if err != nil {
		return false
	}
	y, err := json.Marshal(b)
	return err == nil && bytes.Equal(x, y)
}
