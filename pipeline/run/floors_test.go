package run

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/raw"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// heldRule is a final rule with some more fields.
func heldRule(agent, more string) string {
	return fmt.Sprintf(`{"id": "held", "name": "Banned word", "severity": "major", "agent": %q, "category": "words", "final": true,
		"description": "The word is not ours.", "detection": "The word", "recommendation": "Delete the file."%s}`, agent, more)
}

// holders are layers of a server that make a rule final, and perhaps more.
var holders = map[string]map[string]string{
	"a rule for all agents run": {config.FileRules: "[" + heldRule("build-reviewer", `, "match": {"literal": "frobnicate"}`) + "]"},
	"a rule of the whole change": {config.FileRules: "[" + heldRule("build-reviewer",
		`, "match": {"literal": "frobnicate"}, "when": "classification.risk.score >= 0 && size(classification.domains) >= 0"`) + "]"},
	"a rule on a domain": {
		config.FileRules:   "[" + heldRule("build-reviewer", `, "match": {"literal": "frobnicate"}, "when": "classification.domains.exists(d, d.id == 'held-domain')"`) + "]",
		config.FileDomains: `[{"id": "held-domain", "type": "domain", "domain": "held-domain", "description": "d", "globs": ["**"], "weight": 5}]`,
	},
	"a rule of an agent of its own": {
		config.FileRules:       "[" + heldRule("words", `, "match": {"literal": "frobnicate"}`) + "]",
		config.FileAgents:      `[{"id": "words", "name": "Words", "kind": "rules", "description": "d"}]`,
		config.FileComposition: `[{"id": "words", "description": "d", "priority": 10, "trigger": {"type": "not", "triggers": [{"type": "label", "labels": ["x"]}]}, "dispatch": {"agents": ["words"]}}]`,
	},
	"a rule, the gate and the mode": {
		config.FileRules:    "[" + heldRule("build-reviewer", `, "match": {"literal": "frobnicate"}`) + "]",
		config.FileSettings: `{"final": ["gate", "mode"]}`,
	},
}

// schemaOf reads the schema of a config file.
func schemaOf(t *testing.T, file string) map[string]any {
	t.Helper()
	text, err := os.ReadFile("../../config/schemas/" + file)
	if err != nil {
		t.Fatal(err)
	}
	var s map[string]any
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// drawBySchema draws a value that fits a schema. Its strings have a meaning in some config.
func drawBySchema(t *rapid.T, name string, s, root map[string]any) any {
	if ref, ok := s["$ref"].(string); ok {
		if local, ok := strings.CutPrefix(ref, "#/$defs/"); ok {
			return drawBySchema(t, name, root["$defs"].(map[string]any)[local].(map[string]any), root)
		}
		shared := root["common"].(map[string]any)["$defs"].(map[string]any)[strings.TrimPrefix(ref, "common.json#/$defs/")].(map[string]any)
		if strings.HasSuffix(ref, "/globs") {
			return []string{rapid.SampledFrom([]string{"**", "docs/**", "nowhere/**"}).Draw(t, name)}
		}
		return drawBySchema(t, name, shared, root)
	}
	if enum, ok := s["enum"].([]any); ok {
		return rapid.SampledFrom(enum).Draw(t, name)
	}
	number := func(field string, fallback float64) float64 {
		if v, ok := s[field].(float64); ok {
			return v
		}
		return fallback
	}
	switch s["type"] {
	case "object":
		out := map[string]any{}
		properties, _ := s["properties"].(map[string]any)
		required, _ := s["required"].([]any)
		for _, p := range slices.Sorted(maps.Keys(properties)) {
			serverOnly := []string{"$schema", "repositories", "config_branches", "model_endpoints", "model_budget", "final", "final_authority", "reviewers", "gap_detector"}
			if slices.Contains(serverOnly, p) || !slices.Contains(required, any(p)) && rapid.IntRange(0, 2).Draw(t, p+"?") > 0 {
				continue
			}
			out[p] = drawBySchema(t, p, properties[p].(map[string]any), root)
		}
		return out
	case "array":
		list := []any{}
		for range rapid.IntRange(0, 2).Draw(t, name+" n") {
			list = append(list, drawBySchema(t, name, s["items"].(map[string]any), root))
		}
		if s["uniqueItems"] == true && len(list) > 1 {
			list = list[:1]
		}
		return list
	case "boolean":
		return rapid.Bool().Draw(t, name)
	case "integer":
		low := int(number("minimum", 0))
		return rapid.IntRange(low, int(number("maximum", float64(low+50)))).Draw(t, name)
	case "number":
		return rapid.Float64Range(number("minimum", 0), number("maximum", 1)).Draw(t, name)
	}
	if name == "when" {
		return rapid.SampledFrom([]string{"critical > 99", "findings >= 0", "major > 0", "incomplete > 0 && critical > 0"}).Draw(t, name)
	}
	texts := []string{"words", "scope"}
	if strings.HasSuffix(name, "teams") || name == "team" || name == "people" {
		texts = []string{"acme/team"}
	}
	return rapid.SampledFrom(texts).Draw(t, name)
}

// drawOverrides draws a repository's overrides of entries in lower layers, final or not.
func drawOverrides(t *rapid.T, file string, ids []string, fields map[string][]any) []map[string]any {
	list := []map[string]any{}
	for _, id := range ids {
		if rapid.IntRange(0, 2).Draw(t, file+" "+id) > 0 {
			continue
		}
		e := map[string]any{"id": id}
		for _, f := range slices.Sorted(maps.Keys(fields)) {
			if rapid.IntRange(0, 3).Draw(t, f+"?") == 0 {
				e[f] = rapid.SampledFrom(fields[f]).Draw(t, f)
			}
		}
		list = append(list, e)
	}
	return list
}

// drawRepository draws a repository's layer, with or without each file.
func drawRepository(t *rapid.T, settings map[string]any) config.Layer {
	l := config.Layer{Name: config.LayerRepository, Source: "test"}
	add := func(file string, v any) {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		l.Files = append(l.Files, config.File{Path: file, Text: text})
	}
	if rapid.IntRange(0, 4).Draw(t, "settings?") > 0 {
		add(config.FileSettings, drawBySchema(t, "settings", settings, settings))
	}
	if rapid.Bool().Draw(t, "rules?") {
		rules := drawOverrides(t, "rules", []string{"held", "build-conflict-01"}, map[string][]any{"enabled": {false, true}, "severity": {"info", "critical"}, "mode": {"evaluate", "enforce"}})
		if rapid.Bool().Draw(t, "own rule?") {
			rules = append(rules, map[string]any{
				"id": rapid.SampledFrom([]string{"aaa", "zzz"}).Draw(t, "own id"), "name": "Banned word", "category": "words", "description": "The word is ours.", "detection": "The word",
				"severity":       rapid.SampledFrom([]string{"info", "critical"}).Draw(t, "own severity"),
				"agent":          rapid.SampledFrom([]string{"build-reviewer", "security-reviewer", "pr-hygiene"}).Draw(t, "own agent"),
				"recommendation": rapid.SampledFrom([]string{"Keep it.", "Add another.", "Delete the document."}).Draw(t, "own recommendation"),
				"match":          map[string]any{"literal": "frobnicate"},
				"mode":           rapid.SampledFrom([]string{config.ModeEnforce, config.ModeEvaluate}).Draw(t, "own mode"),
			})
		}
		add(config.FileRules, rules)
	}
	if rapid.Bool().Draw(t, "agents?") {
		add(config.FileAgents, drawOverrides(t, "agents", []string{"build-reviewer", "pr-hygiene", "docs-reviewer"}, map[string][]any{"enabled": {false}, "mode": {"evaluate"}, "timeout_seconds": {1, 5}, "retries": {0}}))
	}
	if rapid.Bool().Draw(t, "policies?") {
		add(config.FileComposition, drawOverrides(t, "policies", []string{"universal", "words", "hygiene"}, map[string][]any{
			"enabled": {false}, "mode": {"evaluate"}, "priority": {0, 100},
			"trigger":  {map[string]any{"type": "path", "globs": []string{"nowhere/**"}}, map[string]any{"type": "label", "labels": []string{"never"}}},
			"dispatch": {map[string]any{"required": false}, map[string]any{"on_failure": "warn", "scope": "matched"}},
		}))
	}
	if rapid.Bool().Draw(t, "domains?") {
		add(config.FileDomains, drawOverrides(t, "domains", []string{"held-domain"}, map[string][]any{"enabled": {false}, "domain": {"other"}, "globs": {[]string{"nowhere/**"}}}))
	}
	return l
}

// drawHeldChange draws a change with the banned word, hidden as an author might hide it.
func drawHeldChange(t *rapid.T, cfg *config.Config) *inMemory {
	path := rapid.SampledFrom([]string{
		"src/a.go", "docs/plans/p.md", "docs/specs/s.md", "vendor/x/y.go", "package-lock.json", "spec/a_spec.rb", "tests/t.py", "gen/a.pb.go", "a.min.js", "LICENSE",
	}).Draw(t, "path")
	line := rapid.SampledFrom([]string{
		"frobnicate", "// frobnicate reviewgate:ignore held it is ours", "# reviewgate:ignore held fine\n+frobnicate",
		"// Code generated by x. DO NOT EDIT.\n+frobnicate", "remove this file: frobnicate",
	}).Draw(t, "line")
	n := strings.Count(line, "\n") + 1
	return &inMemory{cfg: cfg, files: []raw.ChangedFile{{
		Path: path, Status: pipeline.FileAdded, Additions: n, Patch: fmt.Sprintf("@@ -0,0 +1,%d @@\n+%s", n, line),
	}}}
}

// For any config of a repository and any change of an author, a finding of a rule that is final in
// the server's layer stays in the gate, and the decision is no milder than without the repository's
// layer.
func TestFinalRulesHoldAgainstRepositoryAndAuthor(t *testing.T) {
	settings := schemaOf(t, config.FileSettings)
	settings["common"] = schemaOf(t, "common.json")
	runner := newRunner(t, nil)
	used := 0
	sample.Check(t, func(t *rapid.T) {
		server := config.Layer{Name: rapid.SampledFrom([]string{config.LayerServer, config.LayerOrganisation}).Draw(t, "layer"), Source: "test"}
		holder := holders[rapid.SampledFrom(slices.Sorted(maps.Keys(holders))).Draw(t, "holder")]
		for _, file := range slices.Sorted(maps.Keys(holder)) {
			server.Files = append(server.Files, config.File{Path: file, Text: []byte(holder[file])})
		}
		below, problems := config.Load(server)
		if len(problems) > 0 {
			t.Fatal(config.FormatProblem(problems[0]))
		}
		cfg, problems := config.Load(server, drawRepository(t, settings))
		if len(problems) == 0 {
			used++
		}
		change := drawHeldChange(t, below)
		want := heldReport(t, runner, change)
		if !want.Decision.Blocks() {
			t.Fatalf("without the repository's layer: %s by %s", want.Decision, want.Gate.Condition)
		}
		change.cfg = cfg
		got := heldReport(t, runner, change)
		if got.Decision.Rank() < want.Decision.Rank() {
			t.Fatalf("%s by %s, and %s without the repository's layer", got.Decision, got.Gate.Condition, want.Decision)
		}
		if i := slices.IndexFunc(got.Findings, func(f pipeline.Finding) bool { return f.RuleID == "held" }); i < 0 ||
			got.Findings[i].GateSeverity.Rank() < pipeline.SeverityMajor.Rank() {
			t.Fatalf("the final finding is not in the gate: %+v; suppressed: %+v", got.Findings, got.Suppressed)
		}
		if below.Mode("acme/shop") == config.ModeEnforce && cfg.Mode("acme/shop") != config.ModeEnforce {
			t.Fatalf("the mode is %s", cfg.Mode("acme/shop"))
		}
	})
	t.Logf("in %d cases the repository's layer was valid", used)
	if used == 0 && sample.Full() { // a few draws may all be invalid
		t.Error("no repository's layer was valid")
	}
}

func heldReport(t *rapid.T, r *Runner, change *inMemory) pipeline.Report {
	out, err := r.Run(t.Context(), change, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return out.Review.Report
}
