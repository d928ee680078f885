package run

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/classify"
	"github.com/reviewgate/reviewgate/pipeline/compose"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/pipeline/gapdetect"
	"github.com/reviewgate/reviewgate/pipeline/normalize"
	"github.com/reviewgate/reviewgate/pipeline/rules"
)

// floor is a compiled config.Floor: the stages that choose agents, and the layer's final rules.
type floor struct {
	*config.Floor
	classify *classify.Classifier
	compose  *compose.Composer
	gaps     *gapdetect.Detector
	rules    *rules.Engine
}

func compileFloor(f *config.Floor) (*floor, error) {
	out := &floor{Floor: f}
	var err error
	if out.classify, err = classify.New(f.Config); err != nil {
		return nil, fmt.Errorf("compile the domains: %w", err)
	}
	if out.compose, err = compose.New(f.Config); err != nil {
		return nil, fmt.Errorf("compile the policies: %w", err)
	}
	if out.gaps, err = gapdetect.New(f.Config); err != nil {
		return nil, fmt.Errorf("compile the gap signals: %w", err)
	}
	var final []config.Rule
	for _, r := range f.Config.Rules {
		if slices.Contains(f.Config.FinalIn(r.ID, ""), f.Layer) {
			final = append(final, r)
		}
	}
	if out.rules, err = rules.Compile(final); err != nil {
		return nil, fmt.Errorf("compile the final rules: %w", err)
	}
	return out, nil
}

// hold adds to a manifest what the floors dispatch for their final entries. An agent that is final,
// or has final rules, is required and looks at every file that a floor gives it. So are the agents
// of final policies and signals.
func (e *Engine) hold(ctx context.Context, facts *pipeline.PRFacts, m pipeline.AgentManifest) (pipeline.AgentManifest, error) {
	views := e.views(facts)
	for _, f := range e.floors {
		for _, facts := range views {
			c := f.classify.Classify(facts)
			low, _, err := f.gaps.Detect(ctx, facts, &c, f.compose.Compose(facts, &c))
			if err != nil {
				return m, err
			}
			for _, entry := range low.Entries {
				looks := slices.Contains(f.Config.FinalLayers(entry.Agent), f.Layer)
				if !looks && !f.chose(&entry) {
					continue
				}
				if a := f.agent(entry.Agent); looks && a != nil && !f.Config.Absent(a) {
					entry.Required, entry.OnFailure = true, pipeline.OnFailureBlock
				}
				m = united(m, entry)
			}
		}
	}
	return m, nil
}

// views returns the facts as final entries see them. If the base's .gitattributes sets something on
// a file, that includes the facts without it, since the repository writes the attributes.
func (e *Engine) views(facts *pipeline.PRFacts) []*pipeline.PRFacts {
	if len(e.floors) == 0 {
		return nil
	}
	plain := *facts
	plain.Files = nil
	sets := false
	for _, f := range facts.Files {
		p := normalize.WithoutAttributes(f)
		sets = sets || p.Generated != f.Generated || p.GeneratedByPath != f.GeneratedByPath || p.Vendored != f.Vendored || p.ByBase != f.ByBase || p.Documentation != f.Documentation
		plain.Files = append(plain.Files, p)
	}
	if !sets {
		return []*pipeline.PRFacts{facts}
	}
	return []*pipeline.PRFacts{facts, &plain}
}

// chose reports whether a final policy or signal of the floor chose the agent.
func (f *floor) chose(e *pipeline.ManifestEntry) bool {
	if e.AddedBy == pipeline.AddedByGapDetect {
		return slices.ContainsFunc(f.Config.Signals, func(s config.Signal) bool { return s.Final && s.Agent == e.Agent })
	}
	var ids []string
	for _, p := range e.Policies {
		ids = append(ids, p.Policy)
	}
	return f.Config.AnyFinal(ids)
}

func (f *floor) agent(id string) *config.Agent {
	i := slices.IndexFunc(f.Config.Agents, func(a config.Agent) bool { return a.ID == id })
	if i < 0 {
		return nil
	}
	return &f.Config.Agents[i]
}

// united returns the manifest with an entry merged into the agent's own, if there is one. The agent
// looks at the files of both, and is required if either says so.
func united(m pipeline.AgentManifest, low pipeline.ManifestEntry) pipeline.AgentManifest {
	m.Skipped = slices.DeleteFunc(slices.Clone(m.Skipped), func(s pipeline.SkippedAgent) bool { return s.Agent == low.Agent })
	m.Entries = slices.Clone(m.Entries)
	e := m.Entry(low.Agent)
	if e == nil {
		m.Entries = append(m.Entries, low)
	} else {
		joinEntry(e, &low)
	}
	slices.SortStableFunc(m.Entries, func(a, b pipeline.ManifestEntry) int {
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.Agent, b.Agent))
	})
	return m
}

func joinEntry(e, low *pipeline.ManifestEntry) {
	for _, p := range low.Policies {
		if !slices.ContainsFunc(e.Policies, func(q pipeline.PolicyMatch) bool { return q.Policy == p.Policy }) {
			e.Policies = append(slices.Clip(e.Policies), p)
		}
	}
	slices.SortFunc(e.Policies, func(a, b pipeline.PolicyMatch) int {
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.Policy, b.Policy))
	})
	e.Priority = max(e.Priority, low.Priority)
	if low.Required {
		if !e.Required || low.OnFailure == pipeline.OnFailureBlock {
			e.OnFailure = low.OnFailure
		}
		e.Required = true
	}
	if low.AddedBy == pipeline.AddedByPolicy {
		e.AddedBy = pipeline.AddedByPolicy
	}
	if e.Scope.All || low.Scope.All {
		e.Scope = pipeline.AgentScope{All: true}
	} else {
		e.Scope.Files = sortedUnion(e.Scope.Files, low.Scope.Files)
		e.Scope.Domains = sortedUnion(e.Scope.Domains, low.Scope.Domains)
	}
	asked := map[string]int{} // how often the floor asks the model; more questions are not needed
	for _, model := range e.Models {
		asked[model]++
	}
	for _, model := range low.Models {
		if asked[model]--; asked[model] < 0 {
			e.Models = append(slices.Clip(e.Models), model)
		}
	}
}

func sortedUnion(a, b pipeline.List[string]) pipeline.List[string] {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// heldAgent is an agent of the kind rules that looks again, with each floor's final rules and the
// floor's own classification of the change. The layers above must not decide what those rules ask
// about a change.
type heldAgent struct {
	own dispatch.Agent
	low []dispatch.Agent // with the same id, one for each floor
}

// Review returns what the agent finds, and what only the floors' rules find.
func (a heldAgent) Review(ctx context.Context, task dispatch.Task) (dispatch.Answer, error) {
	answer, err := a.own.Review(ctx, task)
	if err != nil {
		return answer, err
	}
	out := &answer.Output
	type place struct {
		rule, path, section string
		start, end          int
	}
	at := func(f *pipeline.Finding) place { return place{f.RuleID, f.Path, f.Section, f.StartLine, f.EndLine} }
	known := map[place]bool{}
	for i := range out.Findings {
		known[at(&out.Findings[i])] = true
	}
	for _, low := range a.low {
		more, err := low.Review(ctx, task)
		if err != nil {
			return answer, err
		}
		for _, f := range more.Output.Findings {
			if !known[at(&f)] {
				known[at(&f)] = true
				out.Findings = append(out.Findings, f)
			}
		}
	}
	return answer, nil
}

// held wraps the agents that have final rules in a floor.
func (e *Engine) held(all agents, facts *pipeline.PRFacts) {
	low := map[string][]dispatch.Agent{}
	views := e.views(facts)
	for _, f := range e.floors {
		for _, facts := range views {
			c := f.classify.Classify(facts)
			scan := f.rules.Scan(facts, &c)
			for i := range f.Config.Agents {
				a := &f.Config.Agents[i]
				if a.Kind == config.KindRules && slices.Contains(f.Config.FinalLayers(a.ID), f.Layer) {
					low[a.ID] = append(low[a.ID], scan.Agent(a.ID))
				}
			}
		}
	}
	for id, of := range low {
		if own := all[id]; own != nil {
			all[id] = heldAgent{own, of}
		}
	}
}
