package run

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/pipeline/secrets"
)

type agents = map[string]dispatch.Agent

// builtIn returns the config's agents of the built-in kinds, for one change. Agents of the kind
// rules share one scan, so that all rules take one pass.
func (e *Engine) builtIn(facts *pipeline.PRFacts, classification *pipeline.Classification) agents {
	scan := e.rules.Scan(facts, classification).Ignoring(e.ignored.Any)
	all := agents{}
	for _, a := range e.config.Agents {
		switch a.Kind {
		case config.KindRules:
			all[a.ID] = noting(scan.Agent(a.ID), e.notes[a.ID])
		case config.KindSecrets:
			all[a.ID] = secrets.Agent{Final: len(e.config.FinalIn("", a.ID)) > 0}
		}
	}
	e.held(all, facts)
	return all
}

// noted is an agent that adds a note to its answers.
type noted struct {
	dispatch.Agent
	note string
}

// noting returns an agent that adds the note, unless it is empty.
func noting(a dispatch.Agent, note string) dispatch.Agent {
	if note == "" {
		return a
	}
	return noted{a, note}
}

// Review adds the note to the agent's own.
func (n noted) Review(ctx context.Context, task dispatch.Task) (dispatch.Answer, error) {
	answer, err := n.Agent.Review(ctx, task)
	answer.Note = joined(answer.Note, n.note)
	return answer, err
}

// idleNotes says by agent which rules of the layers above the defaults do not run, and why. Nobody
// here wrote the rules of the defaults, so these are not named.
func idleNotes(cfg *config.Config) map[string]string {
	notes := map[string]string{}
	add := func(why string, list []*config.Rule) {
		ids := map[string][]string{}
		for _, r := range list {
			ids[r.Agent] = append(ids[r.Agent], r.ID)
		}
		for agent, of := range ids {
			notes[agent] = joined(notes[agent], why+strings.Join(of, ", "))
		}
	}
	add("nothing checks these rules, because they need a language model and none is configured: ", cfg.OwnUnchecked())
	var strict []*config.Rule
	for i := range cfg.Strict {
		if r := &cfg.Strict[i]; cfg.LayerOf(config.FileRules, r.ID) != config.LayerDefaults {
			strict = append(strict, r)
		}
	}
	add("these rules run only in the profile strict: ", strict)
	return notes
}

// agents returns all agents of one run: built-in agents, agents that the options make, and agents
// that replace the config's. each is the description that all I/O agents get.
func (r *Runner) agents(engine *Engine, o Options, v *pipeline.Review, each IOAgent) agents {
	cfg := engine.config
	all := engine.builtIn(&v.Facts, &v.Classification)
	for _, a := range cfg.Agents {
		switch {
		case all[a.ID] != nil:
		case cfg.Absent(&a):
			all[a.ID] = modelless{}
		case a.Kind == config.KindWebhook:
			all[a.ID] = remote{agent: a, asked: v.Session.Of(a.ID), facts: &v.Facts}
		case a.Enabled && o.IOAgents != nil:
			each.Agent, each.Config, each.Redact, each.Shares = a, cfg, r.Redact, shares(cfg, &v.Manifest, a.ID)
			each.Memory, each.Cycle = &v.Memory, cycleOf(v.Session, &a)
			if agent := o.IOAgents(each); agent != nil {
				all[a.ID] = agent
			}
		}
	}
	maps.Copy(all, r.Agents)
	if o.Only != nil {
		for id, a := range all {
			if !o.Only.agents[id] {
				all[id] = limited{a, o.Only}
			}
		}
	}
	if o.Running != nil {
		for id, a := range all {
			all[id] = counted{a, o.Running}
		}
	}
	return all
}

// shares reports whether a model is asked more than once about the agent's files. Reviewers of
// documents don't count, because their questions have nothing in common.
func shares(cfg *config.Config, m *pipeline.AgentManifest, agent string) bool {
	own := m.Entry(agent)
	if own == nil {
		return false
	}
	documents := map[string]bool{}
	for i := range cfg.Agents {
		_, documents[cfg.Agents[i].ID] = cfg.Agents[i].Reviewer()
	}
	times := map[string]int{}
	for i := range m.Entries {
		if e := &m.Entries[i]; len(e.Models) > 0 && !documents[e.Agent] && pipeline.SameJSON(e.Scope, own.Scope) {
			for _, model := range e.Models {
				times[model]++
			}
		}
	}
	return slices.ContainsFunc(own.Models, func(model string) bool { return times[model] > 1 })
}

// modelless replaces an agent that asks a language model if the server has none. It runs only if a
// policy requires the agent.
type modelless struct{}

var errModelless = errors.New("the server has no language model: its settings name none under model_endpoints")

// Review always fails.
func (modelless) Review(context.Context, dispatch.Task) (dispatch.Answer, error) {
	return dispatch.Answer{}, errModelless
}
