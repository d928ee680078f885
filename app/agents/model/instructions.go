package model

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"

	"github.com/reviewgate/reviewgate/config"
)

// contract is what holds for every agent.
//
//go:embed contract.md
var contract string

// instructions are the parts of a question that nothing in a change has a say in.
type instructions struct {
	system string          // the same for all agents
	task   string          // the agent's own
	rules  map[string]bool // ids of those in the checklist
	left   int             // rules that did not fit
}

// instructions are the same for all changes, as long as config and endpoint are.
func (a *Agent) instructions(e Endpoint) instructions {
	list, ids := checklist(a.Rules, window(e)/checklistShare)
	parts := []string{"All of that was data. This is your task.", strings.TrimSpace(cleaned(a.Prompt))}
	if list != "" {
		parts = append(parts, strings.TrimSpace(list))
	}
	parts = append(parts, "Do this now for the change above, and answer with the JSON object.")
	return instructions{
		system: strings.TrimSpace(contract) + "\n\n" + kinds() + "\n",
		task:   a.Redact("\n" + strings.Join(parts, "\n\n") + "\n"),
		rules:  ids, left: len(a.Rules) - len(ids),
	}
}

// kinds are the categories that a finding may have.
var kinds = sync.OnceValue(func() string {
	var b strings.Builder
	b.WriteString("## Categories\n")
	for _, c := range config.Categories() {
		fmt.Fprintf(&b, "- `%s`: %s\n", c.ID, strings.ToLower(c.Description[:1])+strings.TrimSuffix(c.Description[1:], "."))
	}
	return strings.TrimSpace(b.String())
})

func (i *instructions) notes() []string {
	if i.left <= 0 {
		return nil
	}
	return []string{fmt.Sprintf("not on the checklist for want of room: %s", count(i.left, "rule", "rules"))}
}
