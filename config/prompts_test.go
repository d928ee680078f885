package config

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// The shipped prompts are short. They say what to look for and what to leave out, and ask a model
// only for its findings, because the App defines the format of answers.
func TestPrompts(t *testing.T) {
	want := []string{"architecture-review", "build-reviewer", "design-auditor", "finance-sme", "gap-detector", "security-reviewer", "spec-quality-reviewer", "spec-reviewer", "technical-pm"}
	reports := []string{"architecture-review", "spec-quality-reviewer", "technical-pm"}
	if got := PromptNames(); !slices.Equal(got, want) {
		t.Errorf("prompts %q, want %q", got, want)
	}
	for _, name := range PromptNames() {
		text, err := DefaultPrompt(name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(text, "# ") || !strings.HasSuffix(text, "\n") || !utf8.ValidString(text) {
			t.Errorf("%s is not Markdown with a title", name)
		}
		if n := len(strings.Fields(text)); n > 450 {
			t.Errorf("%s has %d words, which is too many to read with care", name, n)
		}
		if !strings.Contains(text, "\n## Leave out\n") || !strings.Contains(text, "\n## Look for\n") && !strings.Contains(text, "\n## Report\n") {
			t.Errorf("%s does not say what to look for or what to leave out", name)
		}
		if name != "gap-detector" {
			severities := []string{"critical", "major", "warning", "info"}
			if slices.Contains(reports, name) {
				severities = []string{"Critical", "Major", "Minor"}
			}
			for _, severity := range severities {
				if !strings.Contains(text, "- **"+severity+"**: ") {
					t.Errorf("%s does not say what is %s", name, severity)
				}
			}
		}
		if strings.Contains(text, "JSON") {
			t.Errorf("%s says what an answer looks like", name)
		}
	}
	for _, name := range []string{"", "none", "../review-rules.json", "build-reviewer.md"} {
		if _, err := DefaultPrompt(name); err == nil {
			t.Errorf("there is a prompt %q", name)
		}
	}
}
