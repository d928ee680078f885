package aggregate

import (
	"testing"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
)

// Findings in ignored paths are listed with the reason and don't count. Secrets and final findings
// still count.
func TestIgnoredPaths(t *testing.T) {
	entry := config.Ignored{Paths: []string{"gen/**"}, Reason: "generated"}
	for name, tt := range map[string]struct {
		path    string
		change  func(*config.Ignored, *Input)
		ignored bool
	}{
		"in the path":       {"gen/a.go", func(*config.Ignored, *Input) {}, true},
		"outside the path":  {"src/gen/a.go", func(*config.Ignored, *Input) {}, false},
		"for its agent":     {"gen/a.go", func(e *config.Ignored, in *Input) { e.Agents = []string{in.Results[0].Agent} }, true},
		"for another agent": {"gen/a.go", func(e *config.Ignored, _ *Input) { e.Agents = []string{"another"} }, false},
		"for its rule":      {"gen/a.go", func(e *config.Ignored, _ *Input) { e.Rules = []string{"r1"} }, true},
		"for another rule":  {"gen/a.go", func(e *config.Ignored, _ *Input) { e.Rules = []string{"r2"} }, false},
		"a secret": {"gen/a.go", func(_ *config.Ignored, in *Input) {
			in.Config.Agents = append(in.Config.Agents, config.Agent{ID: in.Results[0].Agent, Kind: config.KindSecrets})
		}, false},
		"a final rule": {"gen/a.go", func(_ *config.Ignored, in *Input) {
			in.Rules = map[string]*config.Rule{"r1": {ID: "r1", Final: true, Agent: in.Results[0].Agent}}
		}, false},
	} {
		f := finding(tt.path, 1, "T", pipeline.SeverityMajor)
		f.RuleID = "r1"
		in := one(f)
		in.Facts.Files = append(in.Facts.Files, file(tt.path, "x()"))
		e, cfg := entry, *in.Config
		in.Config = &cfg
		tt.change(&e, &in)
		in.Config.Settings.Ignore = []config.Ignored{e}
		r := Aggregate(in)
		if got := len(r.Suppressed) == 1 && len(r.Findings) == 0; got != tt.ignored || got == r.Decision.Blocks() {
			t.Errorf("%s: %d findings, suppressed %+v, %s", name, len(r.Findings), r.Suppressed, r.Decision)
		}
		if tt.ignored && r.Suppressed[0].Reason != "ignored by config: generated" {
			t.Errorf("%s: %q", name, r.Suppressed[0].Reason)
		}
	}
}
