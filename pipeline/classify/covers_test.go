package classify

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

func reasons(t interface {
	Helper()
	Fatal(...any)
}, cfg *config.Config, paths ...string) (score int, list []string) {
	t.Helper()
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	facts := &pipeline.PRFacts{}
	for _, p := range paths {
		facts.Files = append(facts.Files, pipeline.File{Path: p})
	}
	risk := c.Classify(facts).Risk
	for _, r := range risk.Reasons {
		list = append(list, r.Reason)
	}
	return risk.Score, list
}

// With the shipped config, no file counts twice for one concern.
func TestFilesCountOnceForAConcern(t *testing.T) {
	cfg, problems := config.Load()
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	tests := []struct {
		name  string
		paths []string
		score int
		want  []string
	}{
		{"a workflow", []string{".github/workflows/ci.yml"}, 15, []string{"changes the workflow .github/workflows/ci.yml, which counts for ci too"}},
		{"a CI file that is not a workflow", []string{".github/workflows/ci.yml", "Jenkinsfile.release"}, 23, []string{"changes the workflow .github/workflows/ci.yml", "touches ci: .github/workflows/ci.yml and 1 more"}},
		{"dependencies", []string{"go.mod", "go.sum"}, 8, []string{"changes dependencies in go.mod, which counts for dependencies too"}},
		{"a migration", []string{"db/migrations/7.sql"}, 15, []string{"touches migrations: db/migrations/7.sql, which counts for database too"}},
		{"a migration and a query", []string{"db/migrations/7.sql", "db/users.go"}, 27, []string{"touches migrations: db/migrations/7.sql", "touches database: db/migrations/7.sql and 1 more", "touches 2 domains: database, migrations"}},
		{"secrets", []string{"internal/secrets/store.go"}, 15, []string{"files that decide who may do what, or how the software is configured in production: internal/secrets/store.go, which counts for secrets too"}},
		{"other concerns", []string{"src/payments/session.go"}, 39, []string{"touches auth: src/payments/session.go", "touches finance: src/payments/session.go", "touches 2 domains: auth, finance"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			score, got := reasons(t, cfg, test.paths...)
			if diff := cmp.Diff(test.want, got); diff != "" || score != test.score {
				t.Errorf("score %d, want %d; reasons (-want +got):\n%s", score, test.score, diff)
			}
		})
	}
}

// A domain that weighs more than what covers it adds the difference.
func TestCoveredDomainAddsTheDifference(t *testing.T) {
	cfg := &config.Config{
		Domains: []config.DomainMapping{{Enabled: true, Domain: "pipelines", Globs: []string{".github/**"}, Weight: 30}},
		Risk:    []config.RiskFactor{{Enabled: true, Factor: config.RiskWorkflow, Points: 12, Covers: "pipelines"}},
	}
	score, got := reasons(t, cfg, ".github/workflows/a.yml", ".github/workflows/b.yml")
	want := []string{
		"touches pipelines: .github/workflows/a.yml and 1 more, beyond the 12 points that its files bring otherwise",
		"changes the workflow .github/workflows/a.yml, which counts for pipelines too",
	}
	if diff := cmp.Diff(want, got); diff != "" || score != 30 {
		t.Errorf("score %d, want 30; reasons (-want +got):\n%s", score, diff)
	}
}

// Whichever mappings cover others, a change never scores less than its heaviest domain, and neither
// another file nor a greater weight lowers the score.
func TestCoveringNeverHidesADomain(t *testing.T) {
	domains := []string{"a", "b", "c"}
	sample.Check(t, func(t *rapid.T) {
		cfg := &config.Config{}
		for _, d := range domains {
			cfg.Domains = append(cfg.Domains, config.DomainMapping{
				Enabled: true, Domain: d, Globs: []string{"**/*" + d + "*"}, Weight: rapid.IntRange(0, 20).Draw(t, "weight"),
				Covers: rapid.SampledFrom([]string{"", "a", "b", "c"}).Draw(t, "covers"),
			})
		}
		cfg.Risk = []config.RiskFactor{{Enabled: true, Factor: config.RiskSensitivePath, Points: rapid.IntRange(0, 20).Draw(t, "points"), Globs: []string{"**/*s*"},
			Covers: rapid.SampledFrom([]string{"", "a", "b", "c"}).Draw(t, "covers")}}
		paths := rapid.SliceOfNDistinct(rapid.StringMatching(`[abcs]{1,4}`), 1, 4, rapid.ID).Draw(t, "paths")
		score, _ := reasons(t, cfg, paths...)
		for _, d := range cfg.Domains {
			for _, p := range paths {
				if score < d.Weight && strings.Contains(p, d.Domain) {
					t.Fatalf("score %d, below the %d points of %s", score, d.Weight, d.Domain)
				}
			}
		}
		if less, _ := reasons(t, cfg, paths[1:]...); less > score {
			t.Fatalf("score %d, but %d without %s", score, less, paths[0])
		}
		cfg.Domains[rapid.IntRange(0, 2).Draw(t, "raised")].Weight += 10
		if more, _ := reasons(t, cfg, paths...); more < score {
			t.Fatalf("score %d, but %d after a weight was raised", score, more)
		}
	})
}
