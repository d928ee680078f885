package compose

import (
	"fmt"
	"testing"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies"
)

// BenchmarkCompose evaluates a thousand policies on a change of 300 files.
func BenchmarkCompose(b *testing.B) {
	facts := &pipeline.PRFacts{}
	for i := range 300 {
		facts.Files = append(facts.Files, pipeline.File{Path: fmt.Sprintf("services/s%d/src/file%03d.go", i%40, i), Status: pipeline.FileModified, Language: "Go"})
	}
	triggers := map[string]func(i int) policies.Trigger{
		"paths": func(i int) policies.Trigger {
			return policies.Trigger{Type: policies.TriggerPath, Globs: []string{fmt.Sprintf("services/t%d/**", i), fmt.Sprintf("**/*.{x%d,y%d}", i, i)}}
		},
		"expressions on fields": func(i int) policies.Trigger {
			return policies.Trigger{Type: policies.TriggerExpression, When: fmt.Sprintf(`classification.scope.changed_lines > %d && facts.author.type == "Bot"`, i)}
		},
		"expressions on files": func(i int) policies.Trigger {
			return policies.Trigger{Type: policies.TriggerExpression, When: fmt.Sprintf(`facts.files.exists(f, glob(f.path, "services/t%d/**"))`, i)}
		},
	}
	for name, trigger := range triggers {
		b.Run(name, func(b *testing.B) {
			cfg := &config.Config{Agents: []config.Agent{on("a"), on("b")}}
			for i := range 1000 {
				cfg.Policies = append(cfg.Policies, config.Policy{ID: fmt.Sprintf("p%d", i), Enabled: true, Priority: i % 100,
					Trigger: trigger(i), Dispatch: config.Dispatch{Agents: []string{"a"}}})
			}
			c, err := New(cfg)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				c.Compose(facts, &pipeline.Classification{})
			}
		})
	}
}
