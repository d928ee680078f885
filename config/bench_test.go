package config

import (
	"fmt"
	"testing"
)

// A large server's config has thousands of rules and many policies with expressions. It is read
// once for each of its versions.
func BenchmarkLoad(b *testing.B) {
	big := layer(
		FileRules, repeated(5000, func(i int) string {
			if i%25 == 0 {
				return rule(fmt.Sprint("r", i), fmt.Sprintf(`, "when": "classification.scope.changed_lines > %d && facts.files.exists(f, f.path.startsWith('src/%d/') && !f.test)"`, i, i))
			}
			return rule(fmt.Sprint("r", i), fmt.Sprintf(`, "match": {"pattern": "\\bforbidden%d\\s*\\(\\s*[\"'](\\w+)", "paths": ["src/**/*.go", "lib%d/**"], "languages": ["Go"]}`, i, i))
		}),
		FileComposition, repeated(1000, func(i int) string {
			if i%5 == 0 {
				return fmt.Sprintf(`{"id": "p%d", "description": "d", "priority": %d, "trigger": {"type": "all", "triggers": [{"type": "domain", "domains": ["api"]}, {"type": "expression", "when": "facts.files.size() > %d && !facts.draft"}]}, "dispatch": {"agents": ["build-reviewer"]}}`, i, i%101, i)
			}
			return fmt.Sprintf(`{"id": "p%d", "description": "d", "priority": %d, "trigger": {"type": "any", "triggers": [{"type": "path", "globs": ["services/s%d/**"]}, {"type": "domain", "domains": ["ui", "api"]}]}, "dispatch": {"agents": ["build-reviewer"], "scope": "matched"}}`, i, i%101, i)
		}),
	)
	size := 0
	for _, f := range big.Files {
		size += len(f.Text)
	}
	b.Run("5000 rules, 1000 policies", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(size))
		for b.Loop() {
			if _, problems := Load(big); len(problems) > 0 {
				b.Fatal(FormatProblem(problems[0]))
			}
		}
	})
	b.Run("defaults alone", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			Load()
		}
	})
	b.Run("5000 rules, 1000 policies, known", func(b *testing.B) {
		l := NewLoader(4)
		l.Load(big)
		b.ReportAllocs()
		for b.Loop() {
			l.Load(big)
		}
	})
}
