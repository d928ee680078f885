package run

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline/internal/history"
)

// bigConfig adds 5,000 rules and 1,000 policies to the defaults, as a company with many teams would
// write them: deprecated names, in one language or under one path, and 200 conditions on the whole
// change.
func bigConfig(t testing.TB) *config.Config {
	t.Helper()
	var rules, policies []map[string]any
	for i := range 5000 {
		rules = append(rules, bigRule(i))
	}
	for i := range 1000 {
		policies = append(policies, bigPolicy(i))
	}
	layer := config.Layer{Name: config.LayerServer, Source: "test"}
	for name, entries := range map[string][]map[string]any{config.FileRules: rules, config.FileComposition: policies} {
		text, err := json.Marshal(entries)
		if err != nil {
			t.Fatal(err)
		}
		layer.Files = append(layer.Files, config.File{Path: name, Text: text})
	}
	cfg, problems := config.Load(layer)
	if len(problems) > 0 {
		t.Fatal(config.FormatProblem(problems[0]))
	}
	return cfg
}

// bigName is one of 5,000 names that begin like names in real code.
func bigName(i int) string {
	verbs := []string{"get", "load", "create", "update", "delete", "parse", "render", "send", "read", "write"}
	nouns := strings.Fields("User Order Account Invoice Session Token Product Payment Request Response Config Client Server Cache Queue " +
		"Message Event File Image Report Template Address Customer Device Group Index Job Key Label Member Node Object Page Query Record Role " +
		"Schema Service State Status Stream String Table Task Test Time Type Value Version Worker")
	endings := []string{"Legacy", "Unsafe", "Sync", "V1", "Raw", "Compat", "Internal", "Old", "Direct", "All"}
	return verbs[i%10] + nouns[i/10%len(nouns)] + endings[i/(10*len(nouns))%10]
}

func bigRule(i int) map[string]any {
	name := bigName(i)
	r := map[string]any{
		"id": fmt.Sprintf("team-%d", i), "name": "Uses " + name, "severity": "warning", "agent": "build-reviewer", "category": "team-rules",
		"description": name + " goes away.", "detection": "Calls of " + name + ".", "recommendation": "Use what replaces it.",
	}
	languages := []string{"Go", "TypeScript", "Python", "Java", "JavaScript"}
	area := fmt.Sprintf("services/team%d/**", i%200)
	switch i % 25 {
	case 0:
		r["when"] = fmt.Sprintf(`facts.totals.additions > %d && facts.files.exists(f, f.path.startsWith("services/team%d/"))`, 100+i%1000, i%200)
	case 1, 2, 3:
		r["match"] = map[string]any{"literal": name + "("}
	case 4, 5, 6, 7:
		r["match"] = map[string]any{"pattern": `(?i)\b` + name + `\b`, "paths": []string{area}}
	case 8, 9:
		r["match"] = map[string]any{"pattern": `\b` + name + `\s*\(`, "exclude_paths": []string{"docs/**", fmt.Sprintf("legacy%d/**", i)}, "tests": false}
	case 10:
		r["match"] = map[string]any{"pattern": name, "on": "removed"}
	case 11:
		r["match"] = map[string]any{"pattern": fmt.Sprintf(`(^|/)%s\.(go|ts|py)$`, name), "on": "path"}
	default:
		r["match"] = map[string]any{
			"pattern": `\b(?:` + name + `|` + strings.ToUpper(name) + `)\s*\(\s*["'](\w+)`, "languages": []string{languages[i%5]},
		}
	}
	return r
}

func bigPolicy(i int) map[string]any {
	path := map[string]any{"type": "path", "globs": []string{fmt.Sprintf("services/team%d/**", i), fmt.Sprintf("**/team%d/*.go", i)}}
	trigger := path
	switch i % 4 {
	case 1:
		trigger = map[string]any{"type": "any", "triggers": []any{path, map[string]any{"type": "label", "labels": []string{fmt.Sprintf("team%d", i)}}}}
	case 2:
		trigger = map[string]any{"type": "all", "triggers": []any{path, map[string]any{"type": "size", "at_least": "L"}}}
	}
	return map[string]any{
		"id": fmt.Sprintf("team-%d", i), "description": "What a team wants looked at.", "priority": i % 101, "trigger": trigger,
		"dispatch": map[string]any{"agents": []string{"build-reviewer"}, "scope": "matched"},
	}
}

// BenchmarkBigConfig reviews a real history, commit by commit, with the defaults and with 5,000
// more rules and 1,000 more policies, and reports how many times longer that takes.
func BenchmarkBigConfig(b *testing.B) {
	changes := history.Read(b, 8<<20)
	if changes == nil {
		changes = []history.Change{{Files: manyFiles(3000, 33)}}
	}
	runner, err := NewRunner(Config{Version: "bench", Now: time.Now})
	if err != nil {
		b.Fatal(err)
	}
	defaults, problems := config.Load()
	if len(problems) > 0 {
		b.Fatal(problems)
	}
	big := bigConfig(b)
	reviews := func(cfg *config.Config) (took time.Duration, findings int) {
		start := time.Now()
		for i := range changes {
			out, err := runner.Run(context.Background(), changes[i].Source(cfg), Options{})
			if err != nil {
				b.Fatal(err)
			}
			findings += len(out.Review.Report.Findings)
		}
		return time.Since(start), findings
	}
	reviews(big) // the first run compiles the config
	reviews(defaults)
	var few, many time.Duration
	var fewFindings, manyFindings int
	for b.Loop() {
		var d time.Duration
		d, fewFindings = reviews(defaults)
		few += d
		d, manyFindings = reviews(big)
		many += d
	}
	lines, size := history.Size(changes)
	b.ReportMetric(many.Seconds()/few.Seconds(), "x-defaults")
	b.ReportMetric(few.Seconds()*1000/float64(b.N*len(changes)), "defaults-ms/review")
	b.ReportMetric(many.Seconds()*1000/float64(b.N*len(changes)), "big-ms/review")
	b.ReportMetric(float64(len(changes)), "changes")
	b.ReportMetric(float64(lines), "lines")
	b.ReportMetric(float64(size), "bytes")
	b.ReportMetric(1000*float64(fewFindings)/float64(lines), "defaults-findings/1000-lines")
	b.ReportMetric(1000*float64(manyFindings)/float64(lines), "big-findings/1000-lines")
}
