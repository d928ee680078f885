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

// Checklist are the rules that an agent of kind llm checks. Rules that no engine
// checks come first, then the worst.
func Checklist(cfg *config.Config, agent config.Agent) []config.Rule {
	rules := cfg.Checklist(&agent)
	slices.SortStableFunc(rules, func(a, b config.Rule) int {
		return cmp.Or(checked(&a)-checked(&b), b.Severity.Rank()-a.Severity.Rank(), strings.Compare(a.ID, b.ID))
	})
	return rules
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
		text := sentence(r.Detection) + "."
		if name := sentence(r.Name); !strings.HasPrefix(text, name) { // the defaults repeat the description
			text = name + ". " + text
		}
		entry := fmt.Sprintf("- `%s` (%s) %s\n", r.ID, r.Severity, text)
		if room -= Tokens(entry); room < 0 {
			break
		}
		b.WriteString(entry)
		ids[r.ID] = true
	}
	return b.String(), ids
}

func sentence(s string) string { return strings.TrimSuffix(plaintext.Line(cleaned(s)), ".") }
