package run

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/raw"
)

// A finding of a final rule says which layer made it final, who may dismiss it, and that no layer's
// ignore applies.
func TestFinalFindingsAreMarked(t *testing.T) {
	cfg, problems := config.Load(
		layerOf(config.LayerServer, map[string]string{
			config.FileRules:    "[" + heldRule("build-reviewer", `, "match": {"literal": "frobnicate"}`) + "]",
			config.FileSettings: `{"final_authority": ["acme/security", "mona"]}`,
		}),
		layerOf(config.LayerRepository, map[string]string{config.FileSettings: `{"ignore": [{"paths": ["gen/**"], "reason": "generated"}]}`}),
	)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	change := raw.ChangedFile{Path: "gen/a.py", Status: pipeline.FileAdded, Additions: 1, Patch: "@@ -0,0 +1 @@\n+frobnicate"}
	out, err := newRunner(t, nil).Run(t.Context(), &inMemory{cfg: cfg, files: []raw.ChangedFile{change}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(out.Review.Report.Findings, func(f pipeline.Finding) bool { return f.RuleID == "held" })
	if i < 0 {
		t.Fatalf("%+v", out.Review.Report.Findings)
	}
	f := &out.Review.Report.Findings[i]
	want := pipeline.List[pipeline.FinalIn]{{Layer: config.LayerServer, Authority: pipeline.List[string]{"acme/security", "mona"}}}
	if diff := cmp.Diff(want, f.Final); diff != "" {
		t.Errorf("final (-want +got):\n%s", diff)
	}
	if !slices.Contains(f.Reasons, pipeline.Reason{Kind: pipeline.ReasonNotIgnored, Text: "no ignore of the config leaves out what is final"}) {
		t.Errorf("reasons: %q", f.Reasons)
	}
}
