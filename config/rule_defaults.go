package config

import (
	"strings"

	"github.com/reviewgate/reviewgate/pipeline/jsontree"
	"github.com/reviewgate/reviewgate/pipeline/plaintext"
)

// The defaults of a rule. The agent is dispatched for every change, so a rule without an agent looks
// at every change, too.
const (
	defaultRuleAgent    = "build-reviewer"
	defaultRuleCategory = "custom"
	maxRuleName         = 120 // characters, as in the schema
)

// withRuleDefaults fills in what a valid new rule leaves out, except the recommendation, which may be
// missing. The filled-in values have the place of the rule.
func withRuleDefaults(n *jsontree.Node) *jsontree.Node {
	description := n.Get("description").Text
	for _, field := range []struct{ name, text string }{
		{"name", firstSentence(description)},
		{"agent", defaultRuleAgent},
		{"category", defaultRuleCategory},
		{"detection", description},
	} {
		if n.Get(field.name) == nil {
			n = n.With(field.name, field.text)
		}
	}
	return n
}

// firstSentence returns the first sentence of a text without its full stop, cut to the length of a
// name.
func firstSentence(text string) string {
	text = plaintext.Line(text)
	if end := strings.Index(text, ". "); end >= 0 {
		text = text[:end]
	}
	return plaintext.Cut(strings.TrimSuffix(text, "."), maxRuleName)
}
