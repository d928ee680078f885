package run

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/policies/memory"
)

// Carry says which results of the last review may replace those of agents, which then don't run.
// The zero value allows none.
//
// A result is carried only if the agent finished, and everything that it depends on is known to be
// equal: the version of reviewgate, the config, the agent's entry in the manifest, and the facts
// without the SHAs of commits and the time. The last review may be of another head whose change
// against the merge base is equal. Then only results of agents that read nothing but the facts are
// carried, and only if all changed files have text in the facts. An agent that reads commit
// messages also needs equal messages: a branch that is brought up to date gets another commit. An
// agent that asks models about the change also needs memory that tells them the same.
type Carry struct {
	// Last returns the newest review, or nil. It is called only if a result of that review may be
	// used.
	Last func(ctx context.Context) (*LastReview, error)
	// SameHead says that results of a review of the same head may be carried. It is not set if
	// somebody wants to see the agents run.
	SameHead bool
	// Rerun are the agents that run in any case.
	Rerun []string
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
	ofUse := gapModelOf(engine.config, o) != "" || engine.config.Evaluation != nil && c.SameHead || slices.ContainsFunc(v.Manifest.Entries, func(e pipeline.ManifestEntry) bool {
		return !c.reruns(e.Agent) && (c.SameHead || r.readsFactsAlone(engine, e.Agent))
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

// readsFactsAlone reports whether an agent's result depends only on facts and config. It assumes
// this of agents that replace others.
func (r *Runner) readsFactsAlone(engine *Engine, agent string) bool {
	if r.Agents[agent] != nil {
		return true
	}
	for i := range engine.config.Agents {
		if a := &engine.config.Agents[i]; a.ID == agent {
			_, reviews := a.Reviewer() // it reads whole documents, and the facts show only their changes
			return a.KindOf().FactsAlone && a.StageOf() != pipeline.ReviewStageSpec && !reviews
		}
	}
	return false
}

// readsCommits reports whether an agent reads commit messages. The agent for secrets reads
// redactions, which are compared anyway.
func (r *Runner) readsCommits(engine *Engine, agent string) bool {
	return r.Agents[agent] != nil || engine.rules.ReadsCommits(agent)
}

// readsMemory reports whether an agent asks models about the change, and so tells them what memory
// has on it. An agent that replaces one of the config's may also do so.
func readsMemory(engine *Engine, agent string) bool {
	return slices.ContainsFunc(engine.config.Agents, func(a config.Agent) bool {
		_, documents := a.Reviewer()
		return a.ID == agent && a.Kind == config.KindLLM && !documents
	})
}

// sameNotes reports whether memory tells models the same about the files in scope. A review of an
// older version has no memory that models were told of, which equals an empty one. What a person
// decided about single findings is not part of it.
func sameNotes(scope pipeline.AgentScope, now, before *pipeline.Review) bool {
	var paths []string
	for i := range now.Facts.Files {
		if p := now.Facts.Files[i].Path; scope.Has(p) {
			paths = append(paths, p)
		}
	}
	services := now.Classification.Services
	return pipeline.SameJSON(memory.NotesOn(&now.Memory, services, paths), memory.NotesOn(&before.Memory, services, paths))
}

// sameCycle reports whether a reviewer of sessions is told the same about both. Other agents are told
// nothing.
func (e *Engine) sameCycle(agent string, now, before *pipeline.Session) bool {
	for i := range e.config.Agents {
		if a := &e.config.Agents[i]; a.ID == agent {
			return pipeline.SameJSON(told(cycleOf(now, a)), told(cycleOf(before, a)))
		}
	}
	return true
}

// told returns the part of a cycle that reviewers are told.
func told(c *pipeline.SessionCycle) *pipeline.SessionCycle {
	if c == nil {
		return nil
	}
	return &pipeline.SessionCycle{Number: c.Number, Targets: c.Targets, Context: c.Context, Files: c.Files, FocusAreas: c.FocusAreas, MaxWords: c.MaxWords}
}

// carried are results that replace those of agents, by agent.
type carried map[string][]pipeline.AgentResult

// carry finds the results of the last review that can be carried.
func (r *Runner) carry(ctx context.Context, engine *Engine, v *pipeline.Review, last *LastReview, c Carry, o dispatch.Options) carried {
	sameHead, ok := r.stillHolds(v, last, c)
	if !ok {
		return nil
	}
	previous := last.Review
	commits := sameCommits(v.Facts.Commits, previous.Facts.Commits)
	out := carried{}
	for i := range v.Manifest.Entries {
		e := &v.Manifest.Entries[i]
		before := previous.Manifest.Entry(e.Agent)
		switch {
		case c.reruns(e.Agent) || before == nil || !pipeline.SameJSON(e, before):
		case !sameHead && !r.readsFactsAlone(engine, e.Agent):
		case !commits && r.readsCommits(engine, e.Agent):
		case readsMemory(engine, e.Agent) && !sameNotes(e.Scope, v, previous):
		case r.kindOf(engine, e.Agent) == config.KindWebhook: // its answers are in the session
		case !engine.sameCycle(e.Agent, v.Session, previous.Session):
		default:
			if results := finished(previous, e.Agent, sameHead); results != nil {
				out[e.Agent] = results
			}
		}
	}
	for agent, results := range out {
		for i := range results {
			if !sameHead { // the citations are in files outside the change
				results[i].Citations = dispatch.Citations(ctx, results[i].Output.Findings, &v.Facts, o, agent)
			}
		}
	}
	return out
}

// stillHolds reports whether the last review had the same facts, so that results that depend only
// on facts can be carried, and whether it was of the same head.
func (r *Runner) stillHolds(v *pipeline.Review, last *LastReview, c Carry) (sameHead, ok bool) {
	if last == nil || last.Version != r.Version {
		return false, false
	}
	previous := last.Review
	sameHead = previous.Facts.Head.SHA == v.Facts.Head.SHA
	if sameHead && !c.SameHead || !sameHead && !v.Facts.Complete() {
		return sameHead, false
	}
	return sameHead, sameFacts(&v.Facts, &previous.Facts) && pipeline.SameJSON(v.Classification, previous.Classification)
}

// reruns reports whether an agent runs in any case.
func (c Carry) reruns(agent string) bool { return slices.Contains(c.Rerun, agent) }

// finished returns an agent's results in a review, if all of them finished. A finding about a
// commit's message names the commit, which another head may not have.
func finished(was *pipeline.Review, agent string, sameHead bool) []pipeline.AgentResult {
	var out []pipeline.AgentResult
	for _, r := range was.Results {
		if r.Agent != agent {
			continue
		}
		if r.Status != pipeline.AgentOK { // a skipped agent may be asked this time
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

// with adds the carried results to the others, in the manifest's order.
func (c carried) with(results pipeline.List[pipeline.AgentResult], m pipeline.AgentManifest) pipeline.List[pipeline.AgentResult] {
	var all pipeline.List[pipeline.AgentResult]
	for i := range m.Entries {
		agent := m.Entries[i].Agent
		all = append(all, c[agent]...)
		for _, r := range results {
			if r.Agent == agent {
				all = append(all, r)
			}
		}
	}
	return all
}

// timings are the entries in the record for agents that did not run.
func (c carried) timings() []pipeline.AgentTiming {
	var out []pipeline.AgentTiming
	for agent, results := range c {
		for _, r := range results {
			out = append(out, pipeline.AgentTiming{Agent: agent, Model: r.Model})
		}
	}
	return out
}

// sameFacts compares facts without commits, their SHAs and the time. It compares files one by one,
// so that a large change is not encoded as a whole.
func sameFacts(a, b *pipeline.PRFacts) bool {
	if len(a.Files) != len(b.Files) || !pipeline.SameJSON(lasting(a), lasting(b)) {
		return false
	}
	for i := range a.Files {
		if a.Files[i].Path != b.Files[i].Path || !pipeline.SameJSON(&a.Files[i], &b.Files[i]) {
			return false
		}
	}
	return true
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

// sameCommits compares commits without their SHAs.
func sameCommits(a, b []pipeline.Commit) bool {
	return slices.EqualFunc(a, b, func(x, y pipeline.Commit) bool {
		x.SHA, y.SHA = "", ""
		return x == y
	})
}
