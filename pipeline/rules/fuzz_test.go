package rules_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/rules"
)

// A pattern of the largest size that config accepts takes about half a second for a text of
// fuzzedText bytes in the instrumented fuzz binary. Go gives up on an input after ten seconds
// without a reason, so a slow pattern must fail here earlier.
const (
	fuzzedText = 1 << 10
	quickly    = 5 * time.Second
)

// Config accepts the patterns that the fuzzer starts from. Otherwise the fuzzer would test nothing.
func TestPatternsAreAccepted(t *testing.T) {
	if got := accepted(t, `(?i)k|ab`, "x"); len(got) < 4 {
		t.Errorf("%d rules, want one for each kind of text", len(got))
	}
	if got := accepted(t, "(", ""); got != nil {
		t.Error("a pattern that does not compile is accepted")
	}
}

// For any pattern that config accepts and any lines, the engine finds what the naive
// engine finds, in bounded time.
func FuzzPattern(f *testing.F) {
	f.Add("(?i)k|ab", "", "\u212aey\r\nab\x00")
	f.Add(`[\x{17f}a]b{2}`, `^\s*#`, "\u017fbb\n# abb")
	f.Add(`(?:a{1,30}){1,30}$`, "", strings.Repeat("a", 1000)+"b")
	f.Add(`(?:.{1,31}){1,31}$`, "x{1,1000}", strings.Repeat("\u00e9", fuzzedText/2))
	f.Add(`(.*.*.*x|y+){3}`, "z", strings.Repeat("y", 1000))
	f.Add(`\x{fffd}+$`, "", "a\xff\xfe")
	f.Fuzz(func(t *testing.T, pattern, not, text string) {
		if len(text) > fuzzedText {
			return
		}
		cfg := accepted(t, pattern, not)
		if cfg == nil {
			return
		}
		var lines []string
		for l := range strings.SplitSeq(text, "\n") {
			lines = append(lines, "+"+l, "-"+l)
		}
		facts := &pipeline.PRFacts{Body: text, Files: []pipeline.File{file("a.go", lines...)}}
		start := time.Now()
		got := results(findings(t, cfg, facts, "build-reviewer"))
		if took := time.Since(start); took > quickly {
			t.Errorf("%q without %q took %v", pattern, not, took)
		}
		if diff := cmp.Diff(newNaive(t, cfg).scan(facts, classification), got); diff != "" {
			t.Errorf("%q without %q (-naive +engine):\n%s", pattern, not, diff)
		}
	})
}

// accepted returns rules with the pattern for lines, paths and texts, or nil if config
// refuses it. An accepted pattern compiles.
func accepted(t *testing.T, pattern, not string) []config.Rule {
	t.Helper()
	var items []map[string]any
	for _, on := range []string{config.OnAdded, config.OnRemoved, config.OnFile, config.OnBody} {
		items = append(items, map[string]any{
			"id": "fuzz-" + on, "name": "n", "severity": "major", "agent": "build-reviewer", "category": "c",
			"description": "d", "detection": "d", "recommendation": "r",
			"match": map[string]any{"pattern": pattern, "not_pattern": not, "on": on},
		})
	}
	rulesText, err := json.Marshal(map[string]any{"extends": []string{}, "items": items})
	if err != nil {
		t.Fatal(err)
	}
	cfg, problems := config.Load(config.Layer{Name: config.LayerServer, Source: "fuzz", Files: []config.File{{Path: config.FileRules, Text: rulesText}}})
	if len(problems) > 0 {
		return nil
	}
	if _, err := rules.Compile(cfg.Rules); err != nil {
		t.Fatalf("config accepts %q, which does not compile: %v", pattern, err)
	}
	return cfg.Rules
}
