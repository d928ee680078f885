package model

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline/plaintext"
)

// checklistShare is the part of what a model reads that the checklist may take:
// an eighth of it.
const checklistShare = 8

// Checklist are the rules that an agent of kind llm checks: its own and those of
// the agents that it names, which a model can judge by. Rules over the whole
// change, its title, description or commits are left out: the engine knows all of
// that; and so are those that the config doesn't let it be told. Rules that no
// engine checks come first, then the worst.
func Checklist(cfg *config.Config, agent config.Agent) []config.Rule {
	of := []string{agent.ID}
	if agent.LLM != nil {
		of = append(of, agent.LLM.Checklist...)
	}
	var rules []config.Rule
	for _, r := range cfg.Rules {
		if r.Enabled && slices.Contains(of, r.Agent) && ofCode(&r) && cfg.MayTell(&agent, r.ID) {
			rules = append(rules, r)
		}
	}
	slices.SortStableFunc(rules, func(a, b config.Rule) int {
		return cmp.Or(checked(&a)-checked(&b), b.Severity.Rank()-a.Severity.Rank(), strings.Compare(a.ID, b.ID))
	})
	return rules
}

func ofCode(r *config.Rule) bool {
	if r.Match == nil {
		return r.When == ""
	}
	switch r.Match.On {
	case config.OnTitle, config.OnBody, config.OnCommitMessage, config.OnPath, config.OnFile:
		return false
	}
	return true
}

func checked(r *config.Rule) int {
	if r.Match == nil {
		return 0
	}
	return 1
}

// checklist writes the rules, as many as there is room for.
func checklist(rules []config.Rule, room int) (text string, ids map[string]bool) {
	var b strings.Builder
	ids = map[string]bool{}
	if len(rules) == 0 {
		return "", ids
	}
	b.WriteString("# Checklist\n\nThese rules are known to matter here. A finding may break one of them, or none: they are no limit to what you look for, and no reason to report what isn't there.\n\n")
	for i := range rules {
		r := &rules[i]
		entry := fmt.Sprintf("- `%s` (%s) %s. %s\n", r.ID, r.Severity, sentence(r.Name), sentence(r.Detection)+".")
		if room -= Tokens(entry); room < 0 {
			break
		}
		b.WriteString(entry)
		ids[r.ID] = true
	}
	return b.String(), ids
}

func sentence(s string) string { return strings.TrimSuffix(plaintext.Line(cleaned(s)), ".") }
