package secrets

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
)

func TestAgent(t *testing.T) {
	line := func(path, rule string, op pipeline.LineOp, n int) pipeline.Redaction {
		return pipeline.Redaction{Source: pipeline.RedactedLine, Path: path, Op: op, Line: n, RuleID: rule, Title: title(rule)}
	}
	type want struct {
		Rule, Path, Section string
		Line                int
		Severity            pipeline.Severity
	}
	all := pipeline.AgentScope{All: true}
	tests := []struct {
		name      string
		redaction pipeline.Redaction
		scope     pipeline.AgentScope
		want      []want
	}{
		{"added", line("a.py", "github-pat", "+", 7), all, []want{{"secret-github-pat", "a.py", "", 7, pipeline.SeverityCritical}}},
		{"removed", line("a.py", "github-pat", "-", 7), all, nil},
		{"context", line("a.py", "github-pat", " ", 7), all, nil},
		{"in scope", line("a.py", "github-pat", "+", 7), pipeline.AgentScope{Files: pipeline.List[string]{"a.py"}}, []want{{"secret-github-pat", "a.py", "", 7, pipeline.SeverityCritical}}},
		{"out of scope", line("a.py", "github-pat", "+", 7), pipeline.AgentScope{Files: pipeline.List[string]{"b.py"}}, nil},
		{"generic", line("a.py", ruleGeneric, "+", 1), all, []want{{"secret-generic-api-key", "a.py", "", 1, pipeline.SeverityCritical}}},
		{"generic in a test", line("a_test.py", ruleGeneric, "+", 1), all, nil},
		{"generic in documentation", line("a.md", ruleGeneric, "+", 1), all, nil},
		{"generic in a generated file", line("dist/a.js", ruleGeneric, "+", 1), all, nil},
		{"a vendor's token in a generated file", line("dist/a.js", "github-pat", "+", 1), all, []want{{"secret-github-pat", "dist/a.js", "", 1, pipeline.SeverityCritical}}},
		{"a private key in documentation", line("a.md", rulePrivateKey, "+", 1), all, []want{{"secret-private-key", "a.md", "", 1, pipeline.SeverityMajor}}},
		{"generic in an example", line("examples/a.env", ruleGeneric, "+", 1), all, []want{{"secret-generic-api-key", "examples/a.env", "", 1, pipeline.SeverityWarning}}},
		{"generic in a bundle", line("packages/a/dist/a.cjs", ruleGeneric, "+", 1), all, []want{{"secret-generic-api-key", "packages/a/dist/a.cjs", "", 1, pipeline.SeverityWarning}}},
		{"a private key in a bundle", line("packages/a/dist/a.cjs", rulePrivateKey, "+", 1), all, []want{{"secret-private-key", "packages/a/dist/a.cjs", "", 1, pipeline.SeverityCritical}}},
		{"generic in a lock file", line("Cargo.lock", ruleGeneric, "+", 1), all, nil},
		{"a vendor's token in a test", line("a_test.py", "github-pat", "+", 1), all, []want{{"secret-github-pat", "a_test.py", "", 1, pipeline.SeverityCritical}}},
		{"a vendor's token in a lock file", line("Cargo.lock", "github-pat", "+", 1), all, []want{{"secret-github-pat", "Cargo.lock", "", 1, pipeline.SeverityCritical}}},
		{"a JWT in a test", line("a_test.py", "jwt", "+", 1), all, []want{{"secret-jwt", "a_test.py", "", 1, pipeline.SeverityMajor}}},
		{"a JWT in an example", line("examples/a.env", "jwt", "+", 1), all, []want{{"secret-jwt", "examples/a.env", "", 1, pipeline.SeverityMajor}}},
		{"title", pipeline.Redaction{Source: pipeline.RedactedTitle, RuleID: "jwt"}, pipeline.AgentScope{}, []want{{"secret-jwt", "", "title", 0, pipeline.SeverityCritical}}},
		{"body", pipeline.Redaction{Source: pipeline.RedactedBody, RuleID: "jwt"}, pipeline.AgentScope{}, []want{{"secret-jwt", "", "description", 0, pipeline.SeverityCritical}}},
		{"commit", pipeline.Redaction{Source: pipeline.RedactedCommitMessage, Commit: "abcdef0123", RuleID: "jwt"}, pipeline.AgentScope{}, []want{{"secret-jwt", "", "commit abcdef0", 0, pipeline.SeverityCritical}}},
		{"a file by its path", line("a.py", rulePKCS12, "+", 0), all, []want{{"secret-pkcs12-file", "a.py", "", 0, pipeline.SeverityCritical}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			facts := &pipeline.PRFacts{
				Files: pipeline.List[pipeline.File]{
					{Path: "Cargo.lock"}, {Path: "a.md", Documentation: true}, {Path: "a.py"}, {Path: "a_test.py", Test: true}, {Path: "dist/a.js", GeneratedByPath: true}, {Path: "examples/a.env"}, {Path: "packages/a/dist/a.cjs"},
				},
				Redactions: pipeline.List[pipeline.Redaction]{tt.redaction},
			}
			answer, err := Agent{}.Review(t.Context(), dispatch.Task{Entry: pipeline.ManifestEntry{Agent: "secrets", Scope: tt.scope}, Facts: facts})
			if err != nil {
				t.Fatal(err)
			}
			var got []want
			for _, f := range answer.Output.Findings {
				got = append(got, want{f.RuleID, f.Path, f.Section, f.StartLine, f.Severity})
				if f.Title == "" || f.Message == "" || f.WhyItMatters == "" || f.Recommendation == "" || f.Confidence < 0.5 || f.EndLine != f.StartLine {
					t.Errorf("finding %+v", f)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
			if answer.Output.Agent != "secrets" {
				t.Errorf("agent %q", answer.Output.Agent)
			}
		})
	}
}

// A change that adds a whole directory of test tokens gets one warning for all of them. In other
// places each token is reported.
func TestAgentWarnsOncePerKind(t *testing.T) {
	facts := &pipeline.PRFacts{Files: pipeline.List[pipeline.File]{{Path: "ca.key"}, {Path: "server.key"}, {Path: "tests/ca.key", Test: true}, {Path: "tests/server.key", Test: true}, {Path: "tests/user.key", Test: true}}}
	for _, f := range facts.Files {
		facts.Redactions = append(facts.Redactions, pipeline.Redaction{Source: pipeline.RedactedLine, Path: f.Path, Op: pipeline.LineAdded, Line: 1, RuleID: "curl-auth-user"})
	}
	answer, err := Agent{}.Review(t.Context(), dispatch.Task{Entry: pipeline.ManifestEntry{Scope: pipeline.AgentScope{All: true}}, Facts: facts})
	if err != nil {
		t.Fatal(err)
	}
	var got, more []string
	for _, f := range answer.Output.Findings {
		got = append(got, f.Path)
		if _, counted, ok := strings.Cut(f.Message, "There "); ok {
			more = append(more, f.Path+": "+counted)
		}
	}
	if diff := cmp.Diff([]string{"tests/ca.key: are 2 more of its kind, which are not listed."}, more); diff != "" {
		t.Errorf("counted others (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"ca.key", "server.key", "tests/ca.key"}, got); diff != "" {
		t.Errorf("paths (-want +got):\n%s", diff)
	}
}

func TestAgentStopsWhenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (Agent{}).Review(ctx, dispatch.Task{Facts: &pipeline.PRFacts{}}); err == nil {
		t.Error("no error")
	}
}

func TestTitle(t *testing.T) {
	for id, want := range map[string]string{
		"aws-access-token": "AWS access token",
		"private-key":      "Private key",
		"generic-api-key":  "Generic API key",
		"github-pat":       "GitHub PAT",
		"jwt":              "JWT",
	} {
		if got := title(id); got != want {
			t.Errorf("title(%q) = %q, want %q", id, got, want)
		}
	}
}

func TestIsPlaceholder(t *testing.T) {
	for value, want := range map[string]bool{
		"sk-EXAMPLE-9f8a7b6c5d": true,
		"your_api_key_9f8a7b6c": true,
		"T0/B0/XXXXXXXX":        true,
		"T0/B0/XXXXXXX":         false,
		"changeme-9f8a7b6c5d":   true,
		"9f8a7b6c5d4e3f2a1b0c":  false,
		"shop_pat_...":          true,
		"shop_pat_…":            true,
		"<YOUR_TOKEN>":          true,
		"shop_pat_..x":          false,
		"Tr0ub4dorHorse...":     false,
		"CorrectHorse...":       false,
		"":                      false,
	} {
		if got := isPlaceholder(value); got != want {
			t.Errorf("isPlaceholder(%q) = %t", value, got)
		}
	}
}

// A new version of gitleaks may bring rules whose groups hold only a part of the secret. Whoever
// updates gitleaks checks the rules listed here.
func TestGroupsAreKnown(t *testing.T) {
	var got []string
	for _, r := range detector(t).rules {
		if r.regex.Get().NumSubexp() > 1 {
			got = append(got, r.id)
		}
	}
	want := []string{
		"atlassian-api-token", "curl-auth-header", "curl-auth-user", "dropbox-long-lived-api-token", "facebook-access-token", "heroku-api-key-v2",
		ruleJWTBase64, ruleKubernetes, "lob-api-key", "lob-pub-api-key", ruleTeams, "sonar-api-token", "sourcegraph-access-token",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rules with several groups (-known +gitleaks):\n%s", diff)
	}
}

func TestHasRule(t *testing.T) {
	d, err := Default()
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"private-key", "jwt", ruleAssigned, ruleURLPassword, formats[0].id, "generic-api-key"} {
		if !d.HasRule(id) {
			t.Errorf("there is no rule %q", id)
		}
	}
	if d.HasRule("no-such-token") || d.HasRule("") {
		t.Error("there are rules that don't exist")
	}
}
