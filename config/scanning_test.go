package config

import (
	"slices"
	"testing"
)

// What is taken in is merged field by field, and what no layer says is the
// default. As it ships the agent is switched off, since other Apps' checks are on
// the page already; one line switches it on, with its policy.
func TestScanSources(t *testing.T) {
	const mine = `"id": "mine", "name": "A", "kind": "code-scanning", "description": "d"`
	tests := map[string]struct {
		id, entry           string
		annotations, alerts bool
		filter              string
	}{
		"shipped, switched on": {"code-scanning", `"id": "code-scanning", "enabled": true`, true, false, FilterAdded},
		"alerts as well":       {"code-scanning", `"id": "code-scanning", "enabled": true, "scanning": {"alerts": true}`, true, true, FilterAdded},
		"alerts alone":         {"mine", mine + `, "scanning": {"annotations": false, "alerts": true, "filter": "file"}`, false, true, FilterFile},
		"nothing said":         {"mine", mine, true, false, FilterAdded},
		"an empty section":     {"mine", mine + `, "scanning": {}`, true, false, FilterAdded},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := mustLoad(t, layer(FileAgents, "[{"+tt.entry+"}]"))
			s := c.Agents[slices.IndexFunc(c.Agents, func(a Agent) bool { return a.ID == tt.id })].Scanning
			if s.TakesAnnotations() != tt.annotations || s.TakesAlerts() != tt.alerts || s.ShownWhere() != tt.filter {
				t.Errorf("annotations %t, alerts %t, shown where %q", s.TakesAnnotations(), s.TakesAlerts(), s.ShownWhere())
			}
		})
	}
	if c := mustLoad(t, layer(FileAgents, `[{"id": "code-scanning", "enabled": true}]`)); policyOf(c, "code-scanning") == nil {
		t.Error("no policy dispatches the agent where it is on")
	}
	c := mustLoad(t)
	if slices.ContainsFunc(c.Agents, func(a Agent) bool { return a.Kind == KindCodeScanning && a.Enabled }) || policyOf(c, "code-scanning") != nil {
		t.Error("other Apps' findings are taken in unasked")
	}
}
