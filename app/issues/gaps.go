package issues

import (
	"fmt"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/gapdetect"
	"github.com/reviewgate/reviewgate/policies"
	"github.com/reviewgate/reviewgate/policies/glob"
)

// gaps returns the entries of the gap log, each with a patch that can be applied alone.
func (m *merge) gaps() (all []ports.Deferred) {
	log := m.review.Report.GapLog
	first := map[string]pipeline.ConfigPatch{} // by patched file
	for i := range log {
		if file := log[i].Suggestion.File; first[file].File == "" {
			first[file] = log[i].Suggestion
		}
		if len(all) == maxNews {
			m.left++
			continue
		}
		g := log[i]
		g.Suggestion = alone(first[g.Suggestion.File], g.Suggestion)
		text := m.words.Gap(&g)
		// A model describes the same concern in new words each time, so the agent
		// identifies the gap.
		about, subject := g.Concern, g.Concern
		if g.Source != gapdetect.Source {
			about, subject = g.Agent, subjectAgent+g.Agent
		}
		all = append(all, ports.Deferred{
			Kind: ports.DeferredGap, Key: sum(about, config.FileOf(g.Suggestion.File), g.Path), Path: g.Path, Subject: subject, Title: text.Title, Body: text.About,
		})
	}
	return all
}

// subjectAgent is the prefix of the subject of a gap that is an agent which was not sent.
// No concern of a signal starts with it.
const subjectAgent = "agent:"

// alone changes a patch of a log so that it applies without the patches before it. The
// first patch of a file fits the original file. If the file had no list, the first patch
// creates it and the others append to it.
func alone(first, p pipeline.ConfigPatch) pipeline.ConfigPatch {
	if len(first.Operations) != 1 || len(p.Operations) != 1 {
		return p
	}
	op := p.Operations[0]
	if op.Op != "add" || op.Path != "/items/-" {
		return p
	}
	switch first.Operations[0].Path {
	case "":
		op.Path, op.Value = "", map[string]any{"items": []any{op.Value}}
	case "/items":
		op.Path, op.Value = "/items", []any{op.Value}
	}
	p.Operations = pipeline.List[pipeline.PatchOperation]{op}
	return p
}

// covered reports whether the config now covers a concern in a file: the file is mapped to
// the concern's domain, or no signal looks for the concern any more.
func covered(cfg *config.Config, concern, path string) (bool, error) {
	if agent, ok := strings.CutPrefix(concern, subjectAgent); ok {
		return sent(cfg, agent, path)
	}
	for i := range cfg.Signals {
		s := &cfg.Signals[i]
		if s.Concern != concern {
			continue
		}
		if in, err := mapped(cfg, s.Domain, path); !in || err != nil {
			return false, err
		}
	}
	return true, nil
}

// mapped reports whether a file belongs to a domain.
func mapped(cfg *config.Config, domain, path string) (bool, error) {
	for i := range cfg.Domains {
		d := &cfg.Domains[i]
		if d.Domain != domain {
			continue
		}
		globs, err := glob.Compile(d.Globs)
		if err != nil {
			return false, fmt.Errorf("compile the globs of %s: %w", d.ID, err)
		}
		if globs.Any(path) {
			return true, nil
		}
	}
	return false, nil
}

// sent reports whether a policy sends an agent to every change of a file, or the agent no
// longer exists.
func sent(cfg *config.Config, agent, path string) (bool, error) {
	if !slices.ContainsFunc(cfg.Agents, func(a config.Agent) bool { return a.ID == agent && a.Enabled }) {
		return true, nil
	}
	for i := range cfg.Policies {
		p := &cfg.Policies[i]
		if !p.Enabled || !slices.Contains(p.Dispatch.Agents, agent) {
			continue
		}
		if holds, err := holdsFor(cfg, &p.Trigger, path); holds || err != nil {
			return holds, err
		}
	}
	return false, nil
}

// holdsFor reports whether a trigger holds for every change of a file. Other triggers may
// hold for it, but depend on more than its path.
func holdsFor(cfg *config.Config, t *policies.Trigger, path string) (bool, error) {
	switch t.Type {
	case policies.TriggerAlways:
		return true, nil
	case policies.TriggerPath:
		globs, err := glob.Compile(t.Globs)
		if err != nil {
			return false, fmt.Errorf("compile the globs of a policy: %w", err)
		}
		return globs.Any(path), nil
	case policies.TriggerDomain:
		if t.Match == "all" && len(t.Domains) > 1 {
			return false, nil
		}
		for _, domain := range t.Domains {
			if in, err := mapped(cfg, domain, path); in || err != nil {
				return in, err
			}
		}
	}
	return false, nil
}
