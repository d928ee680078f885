package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var pageBlock = regexp.MustCompile("(?ms)^```(json|sh|text|diff) ?([^\n]*)\n(.*?)^```$")

// docs/new-rule.md is true: the test writes its files, runs its commands in order, and compares what
// the last one before each text printed.
func TestNewRulePage(t *testing.T) {
	page, err := os.ReadFile(filepath.FromSlash("../../docs/new-rule.md"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	rules := filepath.FromSlash(".github/reviewgate/review-rules.json")
	printed, commands, texts := "", 0, 0
	for _, m := range pageBlock.FindAllStringSubmatch(string(page), -1) {
		switch kind, file, body := m[1], filepath.FromSlash(m[2]), m[3]; {
		case kind == "json" && file != "":
			write(t, file, body)
		case kind == "json": // TestShortestRule in package config reads it
		case kind == "diff": // a line, and the one that follows it then
			text, err := os.ReadFile(rules)
			if err != nil {
				t.Fatal(err)
			}
			line, added, _ := strings.Cut(body, "\n")
			changed := strings.Replace(string(text), line[1:]+"\n", line[1:]+"\n"+strings.TrimPrefix(added, "+"), 1)
			if changed == string(text) {
				t.Errorf("the rule has no line %q", line)
			}
			write(t, rules, changed)
		case kind == "sh":
			for line := range strings.Lines(body) {
				var stdout, stderr bytes.Buffer
				args := strings.Fields(line)[1:]
				if code := execute(t.Context(), args, strings.NewReader(""), &stdout, &stderr); code != 0 || stderr.Len() > 0 {
					t.Errorf("%s exit code %d: %s%s", line, code, stderr.String(), stdout.String())
				}
				printed = stdout.String()
				commands++
			}
		default:
			texts++
			if diff := cmp.Diff(body, printed); diff != "" {
				t.Errorf("the page differs from what the command printed (-page +printed):\n%s", diff)
			}
		}
	}
	if commands < 7 || texts < 4 {
		t.Errorf("the page has %d commands and %d texts", commands, texts)
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
