package config

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// The section is merged field by field, and a field that no layer sets has its default. The shipped
// agent is switched off, because the page already shows other Apps' checks. One line switches it on
// together with its policy.
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
		"no section":           {"mine", mine, true, false, FilterAdded},
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
		t.Error("the agent is on, but no policy dispatches it")
	}
	c := mustLoad(t)
	if slices.ContainsFunc(c.Agents, func(a Agent) bool { return a.Kind == KindCodeScanning && a.Enabled }) || policyOf(c, "code-scanning") != nil {
		t.Error("other Apps' findings are taken in by default")
	}
}

// The section that the guide shows is valid and switches on what the guide says.
func TestGuideOnOtherApps(t *testing.T) {
	text, err := os.ReadFile("../docs/guide.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "## What other Apps found\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var shown []string
	for i, part := range strings.Split(section, "```") {
		if i%2 == 1 {
			shown = append(shown, strings.TrimPrefix(part, "json\n"))
		}
	}
	if len(shown) != 3 {
		t.Fatalf("the guide shows %d pieces of config, want 3", len(shown))
	}
	if c := mustLoad(t, layer(FileAgents, shown[0])); policyOf(c, "code-scanning") == nil || policyOf(c, "code-scanning").Dispatch.Required {
		t.Error("the first piece does not switch the agent on")
	}
	c := mustLoad(t, layer(FileAgents, shown[1], FileComposition, shown[2]))
	s := c.Agents[slices.IndexFunc(c.Agents, func(a Agent) bool { return a.ID == "code-scanning" })].Scanning
	if !s.TakesAlerts() || !s.TakesAnnotations() || !slices.Equal(s.WaitFor, []string{"CodeQL"}) || !policyOf(c, "code-scanning").Dispatch.Required {
		t.Errorf("%+v, %+v", s, policyOf(c, "code-scanning"))
	}
}
