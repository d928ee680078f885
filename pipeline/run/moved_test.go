package run

import (
	"testing"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/raw"
)

// A line that moves to another file is not new, unless the config ignores the file that it comes
// from.
func TestMovesOutOfIgnoredFiles(t *testing.T) {
	for settings, want := range map[string]int{
		`{}`: 0,
		`{"ignore": [{"paths": ["old/**"], "reason": "tried"}]}`: 1,
	} {
		cfg, problems := config.Load(
			layerOf(config.LayerServer, map[string]string{config.FileRules: `[{"id": "frob", "severity": "warning", "description": "No frobnicate.", "match": {"literal": "frobnicate"}}]`}),
			layerOf(config.LayerRepository, map[string]string{config.FileSettings: settings}),
		)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		out, err := newRunner(t, nil).Run(t.Context(), &inMemory{cfg: cfg, files: []raw.ChangedFile{
			{Path: "app/a.py", Status: pipeline.FileAdded, Additions: 1, Patch: "@@ -0,0 +1 @@\n+frobnicate(x)"},
			{Path: "old/a.py", Status: pipeline.FileRemoved, Deletions: 1, Patch: "@@ -1 +0,0 @@\n-frobnicate(x)"},
		}}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, f := range out.Review.Report.Findings {
			if f.RuleID == "frob" {
				n++
			}
		}
		if n != want {
			t.Errorf("settings %s: %d findings, want %d", settings, n, want)
		}
	}
}
