package issues

import (
	"fmt"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/policies"
	"github.com/reviewgate/reviewgate/policies/glob"
)

// gaps returns the entries of the gap log.
func (m *merge) gaps() (all []ports.Deferred) {
	log := m.review.Report.GapLog
	for i := range log {
		if len(all) == maxNews {
			m.left++
			continue
		}
		g := &log[i]
		text := m.words.Gap(g)
		// A patch of a policy sends an agent to the file, so the agent identifies the gap. A model
		// describes the same concern in new words each time.
		about, subject := g.Concern, g.Concern
		if config.FileOf(g.Suggestion.File) == config.FileComposition {
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
