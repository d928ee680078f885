package config

import (
	"time"

	"github.com/reviewgate/reviewgate/pipeline/jsontree"
)

// checkSecrets checks the entries of secrets.allow. A layer that made the agent for
// secrets final decides what a secret is: later layers can't allow any.
func (c *valueChecks) checkSecrets(allow *jsontree.Node, below *list) {
	for _, e := range elems(allow) {
		c.checkGlobs(e.Get("paths"))
		if day := e.Get("expires"); given(day) {
			if _, err := time.Parse(time.DateOnly, day.Text); err != nil && len(day.Text) == len(time.DateOnly) {
				c.of(day, "there is no day "+shown(day.Text), "write a date such as 2027-01-31")
			}
		}
	}
	if len(elems(allow)) == 0 {
		return
	}
	for _, e := range below.entries {
		if a, ok := e.value.(*Agent); ok && a.Kind == KindSecrets && e.final != "" {
			c.of(allow, "the agent "+shown(a.ID)+" is "+finalIn(e.final)+", so no later layer allows secrets", "leave it out, or ask for the entry there")
		}
	}
}
