package secrets

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
)

// tokens are values that the detector knows by their format, made up for each test.
func tokens(n int) []string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	out := make([]string, n)
	for i := range out {
		var b strings.Builder
		for j, x := 0, uint64(i+1)*0x9e3779b97f4a7c15; j < 36; j++ {
			x = x*6364136223846793005 + 1442695040888963407
			b.WriteByte(letters[x>>59])
		}
		out[i] = "ghp_" + b.String()
	}
	return out
}

func added(path string, lines ...string) pipeline.File {
	f := pipeline.File{Path: path, Status: pipeline.FileAdded, Hunks: pipeline.List[pipeline.Hunk]{{NewStart: 1, NewLines: len(lines)}}}
	for i, text := range lines {
		f.Hunks[0].Lines = append(f.Hunks[0].Lines, pipeline.Line{Op: pipeline.LineAdded, New: i + 1, Text: text})
	}
	return f
}

func TestAllow(t *testing.T) {
	token := tokens(2)
	hash, err := HashValue(token[0], "")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 23, 23, 59, 59, 0, time.UTC)
	entry := func(change func(*config.SecretAllowance)) config.SecretAllowance {
		e := config.SecretAllowance{Rule: "secret-github-pat", Paths: []string{"a.env"}, Value: hash, Reason: "sandbox"}
		change(&e)
		return e
	}
	tests := []struct {
		name  string
		entry config.SecretAllowance
		want  []string // the reasons, by redaction
	}{
		{"the value in its file", entry(func(*config.SecretAllowance) {}), []string{"", "sandbox", "", ""}},
		{"the rule as the detector names it", entry(func(e *config.SecretAllowance) { e.Rule = "github-pat" }), []string{"", "sandbox", "", ""}},
		{"everywhere", entry(func(e *config.SecretAllowance) { e.Paths = nil }), []string{"sandbox", "sandbox", "", "sandbox"}},
		{"another file", entry(func(e *config.SecretAllowance) { e.Paths = []string{"c.env"} }), []string{"", "", "", ""}},
		{"another rule", entry(func(e *config.SecretAllowance) { e.Rule = "secret-github-oauth" }), []string{"", "", "", ""}},
		{"on its last day", entry(func(e *config.SecretAllowance) { e.Expires = "2026-11-23" }), []string{"", "sandbox", "", ""}},
		{"after its last day", entry(func(e *config.SecretAllowance) { e.Expires = "2026-11-22" }), []string{"", "", "", ""}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			facts := pipeline.PRFacts{
				Title: "use " + token[0],
				Files: pipeline.List[pipeline.File]{added("a.env", "A="+token[0], "B="+token[1]), added("b.env", "A="+token[0])},
			}
			change := detector(t).Change()
			facts.Redactions = change.Redact(&facts)
			if err := change.Allow(&facts, []config.SecretAllowance{test.entry}, now); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range facts.Redactions {
				got = append(got, r.Allowed)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("reasons (-want +got):\n%s", diff)
			}
			if text := fmt.Sprint(facts); strings.Contains(text, token[0]) || strings.Contains(text, token[1]) {
				t.Error("a value is not redacted")
			}
		})
	}
}

// If an entry allowed a value until a day in the past, the finding says so.
func TestAllowanceThatExpired(t *testing.T) {
	token := tokens(1)[0]
	hash, err := HashValue(token, "")
	if err != nil {
		t.Fatal(err)
	}
	facts := pipeline.PRFacts{Files: pipeline.List[pipeline.File]{added("a.env", "A="+token)}}
	change := detector(t).Change()
	facts.Redactions = change.Redact(&facts)
	expired := config.SecretAllowance{Rule: "secret-github-pat", Value: hash, Reason: "sandbox", Expires: "2020-01-01"}
	if err := change.Allow(&facts, []config.SecretAllowance{expired}, time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)); err != nil {
		t.Fatal(err)
	}
	f, ok := finding(facts.Redactions[0], &facts.Files[0])
	if !ok || !strings.HasSuffix(f.Message, " It was allowed by config until 2020-01-01; this has expired.") {
		t.Errorf("%v %q", ok, f.Message)
	}
}

// For a change with very many secrets, only a bounded number is hashed. The others stay findings.
func TestAllowIsBounded(t *testing.T) {
	const most = 3
	token := tokens(most + 2)
	lines := make([]string, len(token))
	for i, value := range token {
		lines[i] = fmt.Sprintf("A%d=%s", i, value)
	}
	hash, err := HashValue(token[len(token)-1], "")
	if err != nil {
		t.Fatal(err)
	}
	facts := pipeline.PRFacts{Files: pipeline.List[pipeline.File]{added("a.env", lines...)}}
	change := detector(t).Change()
	facts.Redactions = change.Redact(&facts)
	if len(facts.Redactions) != len(token) {
		t.Fatalf("%d redactions of %d tokens", len(facts.Redactions), len(token))
	}
	a := allower{known: map[[2]string][]byte{}, most: most}
	if err := a.add(&config.SecretAllowance{Rule: "secret-github-pat", Value: hash, Reason: "r"}, time.Time{}); err != nil {
		t.Fatal(err)
	}
	for i := range facts.Redactions {
		if reason := a.reason(&facts.Redactions[i], change.Value(i)); reason != "" {
			t.Errorf("value %d is allowed", i)
		}
	}
	if len(a.known) != most {
		t.Errorf("%d values were hashed", len(a.known))
	}
}

func TestParseHash(t *testing.T) {
	good, err := HashValue("value", "")
	if err != nil {
		t.Fatal(err)
	}
	if h, err := parseHash(good); err != nil || h.String() != good {
		t.Errorf("%q reads as %v, %v", good, h, err)
	}
	like, err := HashValue("another", good)
	if err != nil || like[:29] != good[:29] || like == good {
		t.Errorf("%q has another salt than %q, or the same hash (%v)", like, good, err)
	}
	for _, wrong := range []string{"", "scrypt", "scrypt::", good + "A", good[1:], strings.Replace(good, ":", ";", 1), good[:len(good)-1], "sha256" + good[6:]} {
		if _, err := parseHash(wrong); err == nil {
			t.Errorf("%q is accepted", wrong)
		}
	}
}
