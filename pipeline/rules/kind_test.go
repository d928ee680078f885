package rules_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
)

// With any number of kinds of files, each file is searched for the literals that its rules need.
func TestKinds(t *testing.T) {
	var cfg []config.Rule
	facts := &pipeline.PRFacts{}
	for i := range 200 {
		r := rule(config.Match{Pattern: fmt.Sprintf(`eval\d*\(%d\)`, i), Languages: []string{fmt.Sprint("Language ", i)}})
		if i%2 == 0 {
			r.Match.Languages, r.Match.Paths = nil, []string{fmt.Sprintf("%d/**", i)}
		}
		r.ID = fmt.Sprintf("rule-%03d", i)
		cfg = append(cfg, r)
		var lines []string
		for j := range 200 {
			lines = append(lines, fmt.Sprintf("+eval(%d)", j), fmt.Sprintf("+eval (%d)", j))
		}
		facts.Files = append(facts.Files, with(file(fmt.Sprintf("%d/a", i), lines...), func(f *pipeline.File) { f.Language = fmt.Sprint("Language ", i) }))
	}
	got := results(findings(t, cfg, facts, "agent"))
	if diff := cmp.Diff(newNaive(t, cfg).scan(facts, classification), got); diff != "" {
		t.Errorf("findings (-naive +engine):\n%s", diff)
	}
	if len(got) != 400 {
		t.Errorf("%d findings in files of 200 kinds, want 400", len(got))
	}
}
