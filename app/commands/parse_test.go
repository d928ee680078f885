package commands_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/reviewgate/reviewgate/app/commands"
	"github.com/reviewgate/reviewgate/policies/learning"
)

func TestParse(t *testing.T) {
	type c = commands.Command
	tests := map[string]struct {
		name, rest string
		want       c
	}{
		"bare":                     {"review", "", c{}},
		"agents":                   {"agent", "  security-reviewer `build-reviewer` security-reviewer", c{Agents: []string{"security-reviewer", "build-reviewer"}}},
		"full":                     {"full", "", c{}},
		"dismiss":                  {"dismiss", "0F3A91 not in our code", c{Finding: "0f3a91", Class: learning.Other, Reason: "not in our code"}},
		"dismiss, copied":          {"dismiss", "`0f3a9112`\tread  only", c{Finding: "0f3a9112", Class: learning.Other, Reason: "read  only"}},
		"a false positive":         {"dismiss", "0f3a false_positive the proxy ends it", c{Finding: "0f3a", Class: learning.FalsePositive, Reason: "the proxy ends it"}},
		"with a hyphen":            {"dismiss", "0f3a  False-Positive\tit ends", c{Finding: "0f3a", Class: learning.FalsePositive, Reason: "it ends"}},
		"in two words":             {"dismiss", "0f3a False positive: it ends", c{Finding: "0f3a", Class: learning.FalsePositive, Reason: "it ends"}},
		"won't be fixed":           {"dismiss", "0f3a won't fix, it is old", c{Finding: "0f3a", Class: learning.WontFix, Reason: "it is old"}},
		"a duplicate":              {"dismiss", "0f3a duplicate of 0f3b", c{Finding: "0f3a", Class: learning.Duplicate, Reason: "of 0f3b"}},
		"another class":            {"dismiss", "0f3a other false_positive or not", c{Finding: "0f3a", Class: learning.Other, Reason: "false_positive or not"}},
		"no class":                 {"dismiss", "0f3a false positives are rare", c{Finding: "0f3a", Class: learning.Other, Reason: "false positives are rare"}},
		"remember":                 {"remember", "`m-12`", c{Record: "M-12"}},
		"remember anyway":          {"remember", "M-12 Anyway organization", c{Record: "M-12", Anyway: true, Organisation: true}},
		"forget":                   {"forget", " M-12 ", c{Record: "M-12"}},
		"restore":                  {"restore", "0f3a", c{Finding: "0f3a"}},
		"accept":                   {"accept", "0f3a", c{Finding: "0f3a"}},
		"override":                 {"override", "hotfix, see INC-7", c{Reason: "hotfix, see INC-7"}},
		"reject":                   {"reject", "wait for legal", c{Reason: "wait for legal"}},
		"resume":                   {"resume", "", c{}},
		"explain":                  {"explain", "", c{}},
		"explain a file":           {"explain", "docs/a b.md", c{Subject: "docs/a b.md"}},
		"status":                   {"status", "", c{}},
		"help":                     {"help", "me, please", c{}},
		"a phone's capital letter": {"Status", "", c{}},
	}
	seen := map[commands.Name]bool{}
	for name, tt := range tests {
		got, err := commands.Parse(tt.name, tt.rest)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		seen[got.Name] = true
		if want := commands.Name(strings.ToLower(tt.name)); got.Name != want {
			t.Errorf("%s: the command is %s, want %s", name, got.Name, want)
		}
		if diff := cmp.Diff(tt.want, got, cmpopts.IgnoreFields(c{}, "Kind")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	for _, k := range commands.All() {
		if !seen[k.Name] {
			t.Errorf("nothing parsed as %s", k.Name)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, tt := range []struct {
		name, rest string
		wrong      commands.Wrong
		given      string
	}{
		{"review", "please", commands.TooMuch, "please"},
		{"agent", "", commands.NoAgent, ""},
		{"agent", "`` `", commands.NoAgent, ""},
		{"full", "security-reviewer", commands.TooMuch, "security-reviewer"},
		{"dismiss", "", commands.NoFinding, ""},
		{"dismiss", "0f3a", commands.NoReason, ""},
		{"dismiss", "0f3a  ", commands.NoReason, ""},
		{"dismiss", "0f3 short", commands.BadFinding, "0f3"},
		{"dismiss", "because it is old", commands.BadFinding, "because"},
		{"dismiss", "0f3a false_positive", commands.NoReason, ""},
		{"dismiss", "0f3a false positive:  ", commands.NoReason, ""},
		{"remember", "", commands.NoRecord, ""},
		{"remember", "12", commands.BadRecord, "12"},
		{"remember", "M-012", commands.BadRecord, "M-012"},
		{"remember", "M-0", commands.BadRecord, "M-0"},
		{"remember", "M-12 please", commands.TooMuch, "please"},
		{"remember", "M-12 anyway anyway", commands.TooMuch, "anyway anyway"},
		{"remember", "M-1234567890123456789", commands.BadRecord, "M-1234567890123456789"},
		{"forget", "everything", commands.BadRecord, "everything"},
		{"forget", "M-12 anyway", commands.TooMuch, "anyway"},
		{"restore", "", commands.NoFinding, ""},
		{"restore", "0f3a 0f3b", commands.TooMuch, "0f3b"},
		{"accept", "#1", commands.BadFinding, "#1"},
		{"override", " ", commands.NoReason, ""},
		{"reject", "", commands.NoReason, ""},
		{"resume", "now", commands.TooMuch, "now"},
		{"status", "now", commands.TooMuch, "now"},
	} {
		_, err := commands.Parse(tt.name, tt.rest)
		var usage *commands.UsageError
		if !errors.As(err, &usage) || usage.Wrong != tt.wrong || usage.Given != tt.given || string(usage.Kind.Name) != tt.name {
			t.Errorf("%s %q: %v", tt.name, tt.rest, err)
		}
	}
	var unknown *commands.UnknownError
	for _, name := range []string{"fix", "dimsiss", "", "agent\x00"} {
		if _, err := commands.Parse(name, "x"); !errors.As(err, &unknown) || unknown.Name != name {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// The parsed parts are never longer than the text, and typing the parsed command again gives
// the same command.
func FuzzParse(f *testing.F) {
	for _, k := range commands.All() {
		f.Add(string(k.Name), "0f3a `a` b")
		f.Add(string(k.Name), "0f3a won't fix: b")
		f.Add(string(k.Name), "M-12 anyway organisation")
	}
	f.Fuzz(func(t *testing.T, name, rest string) {
		c, err := commands.Parse(name, rest)
		if err != nil {
			return
		}
		typed := slices.Concat(c.Agents, []string{c.Finding, string(c.Class), c.Reason, c.Subject, c.Record})
		if c.Anyway {
			typed = append(typed, "anyway")
		}
		if c.Organisation {
			typed = append(typed, "organisation")
		}
		typed = slices.DeleteFunc(typed, func(word string) bool { return word == "" })
		again, err := commands.Parse(string(c.Name), strings.Join(typed, " "))
		if err != nil {
			t.Fatalf("%s %q is accepted, but %+v is not: %v", name, rest, c, err)
		}
		if diff := cmp.Diff(c, again, cmpopts.IgnoreFields(commands.Command{}, "Kind")); diff != "" {
			t.Errorf("%s %q (-once +again):\n%s", name, rest, diff)
		}
	})
}
