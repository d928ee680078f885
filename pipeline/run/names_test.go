package run

import (
	"context"
	"slices"
	"testing"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/raw"
	"github.com/reviewgate/reviewgate/pipeline/secrets"
)

// Tokens for file names, in two parts, so that no scanner finds them here.
const (
	oneToken     = "ghp_" + "x7Kq2mVb9ZtR4sWc8YhJ1nDf6LgP3aEuT5oQ"
	anotherToken = "ghp_" + "Qo5TuEa3PgL6fDn1JhY8cWs4RtZ9bVm2qK7x"
)

// namedFiles reviews a change that adds empty files with the names.
func namedFiles(t *testing.T, cfg *config.Config, key, head string, memory pipeline.Memory, names ...string) *pipeline.Report {
	t.Helper()
	src := &pushed{inMemory: inMemory{cfg: cfg}, head: head, base: "base", commits: []pipeline.Commit{{Message: "feat: totals", Author: "ann"}}}
	for _, name := range names {
		src.files = append(src.files, raw.ChangedFile{Path: name, Status: pipeline.FileAdded})
	}
	runner := newRunner(t, nil)
	runner.Key = []byte(key)
	out, err := runner.Run(t.Context(), src, Options{Memory: func(context.Context, *pipeline.PRFacts, *pipeline.Classification) (pipeline.Memory, error) {
		return memory, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	return &out.Review.Report
}

// Dismissing a token in a file's name does not dismiss another token there.
func TestDismissalOfATokenInAName(t *testing.T) {
	for name, tt := range map[string]struct {
		key   string
		after []string
		held  bool
	}{
		"the same token":                 {"key", []string{"a/" + oneToken + ".txt"}, true},
		"the same token elsewhere":       {"key", []string{"b/" + oneToken + ".txt"}, true},
		"another token":                  {"key", []string{"a/" + anotherToken + ".txt"}, false},
		"a second file":                  {"key", []string{"a/" + oneToken + ".txt", "a/" + anotherToken + ".txt"}, false},
		"a second token in the name":     {"key", []string{"a/" + oneToken + "/" + anotherToken + ".txt"}, false},
		"the same token, without a key":  {"", []string{"a/" + oneToken + ".txt"}, false},
		"another token, without any key": {"", []string{"a/" + anotherToken + ".txt"}, false},
	} {
		first := namedFiles(t, shipped(t), tt.key, "head-1", pipeline.Memory{}, "a/"+oneToken+".txt")
		if len(first.Findings) != 1 {
			t.Fatalf("%s: %+v", name, first.Findings)
		}
		f := &first.Findings[0]
		memory := pipeline.Memory{Dismissed: pipeline.List[pipeline.Dismissal]{{
			Fingerprint: f.ID, Reason: "made up", By: "carol", Override: true, Surroundings: f.Surroundings[0],
		}}}
		if r := namedFiles(t, shipped(t), tt.key, "head-1", memory, "a/"+oneToken+".txt"); len(r.Suppressed) != 1 || r.Decision.Blocks() {
			t.Errorf("%s: not dismissed on the same head: %s", name, r.Decision)
		}
		r := namedFiles(t, shipped(t), tt.key, "head-2", memory, tt.after...)
		if why := "what it is about has changed since carol dismissed it (made up), which somebody must confirm"; !tt.held && !slices.Contains(r.Findings[0].Reasons, pipeline.Reason{Kind: pipeline.ReasonNotDismissed, Text: why}) {
			t.Errorf("%s: reasons %q", name, r.Findings[0].Reasons)
		}
		if (len(r.Suppressed) == 1) != tt.held || r.Decision.Blocks() == tt.held {
			t.Errorf("%s: %s, %d suppressed, findings %+v", name, r.Decision, len(r.Suppressed), r.Findings)
		}
	}
}

// The config may allow a token in a file's name without allowing others.
func TestAllowedTokenInAName(t *testing.T) {
	hash, err := secrets.HashValue(oneToken, "")
	if err != nil {
		t.Fatal(err)
	}
	cfg := shipped(t)
	cfg.Settings.Secrets.Allow = []config.SecretAllowance{{Rule: "secret-github-pat", Value: hash, Reason: "made up"}}
	for _, tt := range []struct {
		names  []string
		blocks bool
	}{
		{[]string{"a/" + oneToken + "/a.txt"}, false},
		{[]string{"a/" + anotherToken + "/a.txt"}, true},
		{[]string{"a/" + oneToken + "/" + anotherToken + "/a.txt"}, true},
	} {
		if r := namedFiles(t, cfg, "key", "head-1", pipeline.Memory{}, tt.names...); r.Decision.Blocks() != tt.blocks {
			t.Errorf("%q: %s, findings %+v", tt.names, r.Decision, r.Findings)
		}
	}
}
