package secrets

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"
	"github.com/zricethezav/gitleaks/v8/logging"
	"pgregory.net/rapid"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
)

// Values that look like secrets. They are assembled here so that no scanner takes this file for a
// leak.
var (
	github = "gh" + "p_" + "1fKq8ZrT5wYv3NcXb7LmJd9PsHg2RtUaWe4Q"
	aws    = "AK" + "IA" + "Q3EGW7TZ5KVN2XJD"
	random = "zR8+kQ4x/" + "Tn6Wp1Lv9Yb"
	stripe = "sk" + "_live_" + "4Rw9TzKq2LxVb7NcJm5PdYh8"
	pem    = []string{
		"-----BEGIN RSA " + "PRIVATE KEY-----",
		base64Line(1) + base64Line(2)[:21],
		base64Line(3) + base64Line(4)[:21],
		base64Line(5)[:12] + "==",
		"-----END RSA " + "PRIVATE KEY-----",
	}
)

// base64Line is 43 characters that look random.
func base64Line(seed byte) string {
	sum := sha256.Sum256([]byte{seed})
	return base64.RawStdEncoding.EncodeToString(sum[:])
}

// lines makes a hunk of lines that start with a space, plus or minus.
func lines(text ...string) pipeline.Hunk {
	h := pipeline.Hunk{OldStart: 1, NewStart: 1}
	for _, t := range text {
		l := pipeline.Line{Op: pipeline.LineOp(t[:1]), Text: t[1:]}
		if l.Op != pipeline.LineAdded {
			h.OldLines++
			l.Old = h.OldLines
		}
		if l.Op != pipeline.LineRemoved {
			h.NewLines++
			l.New = h.NewLines
		}
		h.Lines = append(h.Lines, l)
	}
	return h
}

func facts(path string, text ...string) pipeline.PRFacts {
	return pipeline.PRFacts{Files: pipeline.List[pipeline.File]{{
		Path: path, Status: pipeline.FileModified, Hunks: pipeline.List[pipeline.Hunk]{lines(text...)},
	}}}
}

func prefixed(op string, text []string) []string {
	out := make([]string, len(text))
	for i, t := range text {
		out[i] = op + t
	}
	return out
}

func texts(f pipeline.PRFacts) []string {
	var out []string
	for _, file := range f.Files {
		for _, h := range file.Hunks {
			for _, l := range h.Lines {
				out = append(out, string(l.Op)+l.Text)
			}
		}
	}
	return out
}

func TestRedactLines(t *testing.T) {
	d := detector(t)
	key := "[redacted:private-key]"
	tests := []struct {
		name  string
		lines []string
		want  []string
		found []string // rule@op line
	}{
		{
			"added", []string{" a", "+token := \"" + github + "\""},
			[]string{" a", `+token := "[redacted:github-pat]"`}, []string{"github-pat@+2"},
		},
		{
			"removed", []string{" a", "-x = '" + aws + "'", "+x = env()"},
			[]string{" a", "-x = '[redacted:aws-access-token]'", "+x = env()"}, []string{"aws-access-token@-2"},
		},
		{
			"context is reported once", []string{" x = '" + aws + "'", "-a", "+b"},
			[]string{" x = '[redacted:aws-access-token]'", "-a", "+b"}, []string{"aws-access-token@ 1"},
		},
		{
			"several on a line", []string{"+a=" + aws + " b=" + github + " c"},
			[]string{"+a=[redacted:aws-access-token] b=[redacted:github-pat] c"}, []string{"aws-access-token@+1", "github-pat@+1"},
		},
		{
			"twice on a line", []string{"+f(\"" + github + "\", \"" + github + "\")"},
			[]string{`+f("[redacted:github-pat]", "[redacted:github-pat]")`}, []string{"github-pat@+1", "github-pat@+1"},
		},
		{
			"again, without context", []string{"+password = \"" + random + "\"", "+use(" + random + ")"},
			[]string{`+password = "[redacted:generic-api-key]"`, "+use([redacted:generic-api-key])"}, []string{"generic-api-key@+1"},
		},
		{
			"value on the next line", []string{"+api_key =", "+  \"" + random + "\""},
			[]string{"+api_key =", `+  "[redacted:generic-api-key]"`}, []string{"generic-api-key@+2"},
		},
		{
			"marked as allowed", []string{"+k = \"" + github + "\" // gitleaks:allow"},
			[]string{`+k = "[redacted:github-pat]" // gitleaks:allow`}, []string{"github-pat@+1"},
		},
		{
			"private key", append([]string{" x"}, prefixed("+", pem)...),
			[]string{" x", "+" + key, "+" + key, "+" + key, "+" + key, "+" + key}, []string{"private-key@+2"},
		},
		{
			"private key in quotes", []string{`+k = "` + strings.Join(pem, `\n`) + `"`},
			[]string{`+k = "` + key + `"`}, []string{"private-key@+1"},
		},
		{
			"private key with carriage returns", prefixed("+", strings.SplitAfter(strings.Join(pem, "\r|"), "|")),
			[]string{"+" + key, "+" + key, "+" + key, "+" + key, "+" + key}, []string{"private-key@+1"},
		},
		{
			"private key, removed", prefixed("-", pem),
			[]string{"-" + key, "-" + key, "-" + key, "-" + key, "-" + key}, []string{"private-key@-1"},
		},
		{
			"private key, a line changed", []string{" " + pem[0], "-" + pem[1], "+" + pem[2], " " + pem[3], " " + pem[4]},
			[]string{" " + key, "-" + key, "+" + key, " " + key, " " + key}, []string{"private-key@ 1", "private-key@+2"},
		},
		{
			"private key, first lines", append(prefixed("+", pem[:3]), "+"+pem[3][:6]),
			[]string{"+" + key, "+" + key, "+" + key, "+" + key}, []string{"private-key@+1"},
		},
		{
			"private key, last lines", append([]string{" x"}, prefixed("+", pem[2:])...),
			[]string{" x", "+" + key, "+" + key, "+" + key}, []string{"private-key@+2"},
		},
		{
			"code about keys", []string{`+if strings.HasPrefix(s, "` + pem[0] + `") {`, "+ return parseThePrivateKeyThatStandsInTheFile(s)", `+ end("` + pem[4] + `")`},
			[]string{`+if strings.HasPrefix(s, "` + pem[0] + `") {`, "+ return parseThePrivateKeyThatStandsInTheFile(s)", `+ end("` + pem[4] + `")`}, nil,
		},
		{
			"placeholder", []string{"+hook: https://hooks.slack" + ".com/services/T00000000/B00000000/" + strings.Repeat("X", 24)},
			[]string{"+hook: https://hooks.slack" + ".com/services/T00000000/B00000000/" + strings.Repeat("X", 24)}, nil,
		},
		{
			"beside invalid UTF-8", []string{"+\xff\xfe" + github + "\xc3"},
			[]string{"+\xff\xfe[redacted:github-pat]\xc3"}, []string{"github-pat@+1"},
		},
		{
			"beside NUL", []string{"+\x00" + github + "\x00"},
			[]string{"+\x00[redacted:github-pat]\x00"}, []string{"github-pat@+1"},
		},
		{
			"keyword with a kelvin sign", []string{"+api\u212aey = \"" + random + "\""},
			[]string{"+api\u212aey = \"[redacted:generic-api-key]\""}, []string{"generic-api-key@+1"},
		},
		{"nothing", []string{" a", "-b", "+c"}, []string{" a", "-b", "+c"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := facts("config.py", tt.lines...)
			var found []string
			for _, r := range d.Redact(&f) {
				if r.Source != pipeline.RedactedLine || r.Path != "config.py" {
					t.Errorf("there is a redaction of %q in %q", r.Source, r.Path)
				}
				found = append(found, r.RuleID+"@"+string(r.Op)+string(rune('0'+r.Line)))
			}
			if diff := cmp.Diff(tt.want, texts(f)); diff != "" {
				t.Errorf("lines (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.found, found); diff != "" {
				t.Errorf("redactions (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRedactMessages(t *testing.T) {
	f := pipeline.PRFacts{
		Title:   "Use " + github,
		Body:    "The key is\n\n" + strings.Join(pem, "\n") + "\n\nand the token is " + stripe + "\n",
		Commits: pipeline.List[pipeline.Commit]{{SHA: "1111111aaaa", Message: "fine"}, {SHA: "2222222bbbb", Message: "add\n\n" + aws}},
	}
	found := detector(t).Redact(&f)
	want := pipeline.PRFacts{
		Title:   "Use [redacted:github-pat]",
		Body:    "The key is\n\n[redacted:private-key]" + strings.Repeat("\n", len(pem)-1) + "\n\nand the token is [redacted:stripe-access-token]\n",
		Commits: pipeline.List[pipeline.Commit]{{SHA: "1111111aaaa", Message: "fine"}, {SHA: "2222222bbbb", Message: "add\n\n[redacted:aws-access-token]"}},
	}
	if diff := cmp.Diff(want, f); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
	var got []pipeline.Redaction
	for _, r := range found {
		if r.Title == "" || r.Details == "" {
			t.Errorf("redaction of %s has title %q and details %q", r.RuleID, r.Title, r.Details)
		}
		r.Title, r.Details = "", ""
		got = append(got, r)
	}
	wantFound := []pipeline.Redaction{
		{Source: pipeline.RedactedTitle, RuleID: "github-pat"},
		{Source: pipeline.RedactedBody, RuleID: "private-key"},
		{Source: pipeline.RedactedBody, RuleID: "stripe-access-token"},
		{Source: pipeline.RedactedCommitMessage, Commit: "2222222bbbb", RuleID: "aws-access-token"},
	}
	if diff := cmp.Diff(wantFound, got); diff != "" {
		t.Errorf("redactions (-want +got):\n%s", diff)
	}
}

// No value gets out: not in the facts, the redactions or the findings.
func TestNoCanaryLeaks(t *testing.T) {
	canaries := append([]string{github, aws, random, stripe}, pem[1:4]...)
	long := strings.Repeat("var a=1,key=2;", 40_000) + "t=\"" + github + "\";" + strings.Repeat("b();", 100_000)
	f := facts("src/app.js", append(prefixed("+", pem),
		"-old_password = \""+random+"\"",
		" stripe.api_key = \""+stripe+"\"",
		"+"+long,
		"+log("+aws+","+aws+"); // "+github,
	)...)
	f.Files[0].Hunks[0].Section = "func f(token = \"" + github + "\")"
	f.Title, f.Body = "Rotate "+aws, strings.Join(pem, "\r\n")
	f.Commits = pipeline.List[pipeline.Commit]{{SHA: "abc", Message: "was " + random + ", is \"" + stripe + "\""}}

	f.Redactions = detector(t).Redact(&f)
	answer, err := Agent{}.Review(t.Context(), dispatch.Task{Entry: pipeline.ManifestEntry{Scope: pipeline.AgentScope{All: true}}, Facts: &f})
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Redactions) < 8 || len(answer.Output.Findings) < 6 {
		t.Errorf("%d redactions and %d findings", len(f.Redactions), len(answer.Output.Findings))
	}
	text, err := json.Marshal(struct{ Facts, Output any }{f, answer.Output})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range canaries {
		if strings.Contains(string(text), c) {
			t.Errorf("a value of %d characters that starts with %.4s got out", len(c), c)
		}
	}
}

// The groups of some rules hold only a part of the secret.
func TestWholeSecretIsReplaced(t *testing.T) {
	d := detector(t)
	for _, r := range d.rules {
		if !r.fragmentary() {
			continue
		}
		secret := rapid.StringMatching(r.regex.String()).Filter(func(s string) bool { return !isPlaceholder(s) })
		for seed := range 10 {
			f := pipeline.PRFacts{Body: secret.Example(seed)}
			d.Redact(&f)
			if rest := strings.TrimSpace(f.Body); rest != "[redacted:"+r.id+"]" {
				t.Errorf("%s: %q is left", r.id, rest)
			}
		}
	}
}

func TestPathOnlyRule(t *testing.T) {
	f := pipeline.PRFacts{Files: pipeline.List[pipeline.File]{
		{Path: "certs/server.pfx", Status: pipeline.FileAdded, Binary: true},
		{Path: "old.pfx", Status: pipeline.FileRemoved, Binary: true},
	}}
	got := detector(t).Redact(&f)
	if len(got) != 1 || got[0].Path != "certs/server.pfx" || got[0].Line != 0 || got[0].RuleID != rulePKCS12 {
		t.Errorf("redactions %+v, want one of the file that was added", got)
	}
}

// A token in the name of a new file is reported. The name stays.
func TestTokenInAName(t *testing.T) {
	f := pipeline.PRFacts{Files: pipeline.List[pipeline.File]{
		{Path: "a/" + github + ".txt", Status: pipeline.FileAdded},
		{Path: "b/" + stripe + "/c", PreviousPath: "b/c", Status: pipeline.FileRenamed},
		{Path: "d/" + aws + "/new", PreviousPath: "d/" + aws + "/old", Status: pipeline.FileRenamed},
		{Path: "e/" + github, Status: pipeline.FileModified},
		{Path: "f/" + github, Status: pipeline.FileRemoved},
		{Path: "g/ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx.md", Status: pipeline.FileAdded},
	}}
	f.Redactions = detector(t).Redact(&f)
	answer, err := Agent{}.Review(t.Context(), dispatch.Task{Facts: &f})
	var got []string
	for _, f := range answer.Output.Findings {
		got = append(got, strings.TrimSpace(f.Path+" "+f.Section+" "+f.RuleID+" "+string(f.Severity)+": "+f.Title))
	}
	if diff := cmp.Diff([]string{"change secret-github-pat critical: GitHub PAT in the name of a file", "change secret-stripe-access-token critical: Stripe access token in the name of a file"}, got); diff != "" || err != nil {
		t.Errorf("findings (-want +got):\n%s%v", diff, err)
	}
}

// In a file that gitleaks skips, a provider's token is reported. A guessed secret is only replaced.
func TestSkippedFiles(t *testing.T) {
	for _, path := range []string{"package-lock.json", "yarn.lock", "logo.svg", "vendor/github.com/x/y.go", "node_modules/x/index.js", "go.sum", "jquery.min.js", ".git"} {
		f := facts(path, "+\"token\": \""+github+"\"", "+api_key = \"zR8kQ4xTn6Wp1LvB7mYc3Jd9\"")
		got := detector(t).Redact(&f)
		if len(got) != 1 || got[0].RuleID != "github-pat" {
			t.Errorf("%s: redactions %+v, want one of the token", path, got)
		}
		for _, l := range f.Files[0].Hunks[0].Lines {
			if !strings.Contains(l.Text, "[redacted:") {
				t.Errorf("%s: %q is left", path, l.Text)
			}
		}
	}
}

// The name of a module makes its checksum look like a password. It does not count in any file.
func TestChecksumsOfModules(t *testing.T) {
	const sum = "bIREROb7So6PRlq6KTtdS9MPEjC29OQRkFNlvK2OX8Q="
	for line, want := range map[string]int{
		"github.com/docker/docker-credential-helpers v0.9.8 h1:" + sum:        0,
		"github.com/x/auth-token v1.52.0-beta.1/go.mod h1:" + sum:             0,
		"credential-helpers v0.9.8 h1:" + sum + "x":                           1,
		"credential-helpers v0.9.8 " + sum:                                    0, // gitleaks does not find it
		"password = \"" + sum + "\"":                                          1,
		"app_secret h1:" + sum:                                                1,
		"password: h1:" + "ghp_16C7e42F292c6912E7710c838347Ae178B4a" + "1234": 1,
	} {
		f := facts("vendor.sum", "+"+line)
		if got := detector(t).Redact(&f); len(got) != want {
			t.Errorf("%s: %d findings, want %d", line, len(got), want)
		}
	}
}

// Gitleaks' logger prints values at trace level.
func TestSilence(t *testing.T) {
	detector(t)
	if level := logging.Logger.GetLevel(); level != zerolog.Disabled {
		t.Errorf("gitleaks logs at level %s", level)
	}
}

func TestConcurrentAndDeterministic(t *testing.T) {
	d := detector(t)
	run := func() (pipeline.PRFacts, []pipeline.Redaction) {
		f := facts("a.py", append(prefixed("+", pem), "+a="+aws+" b="+github, "-password = \""+random+"\"", "+x("+random+")")...)
		return f, d.Redact(&f)
	}
	wantFacts, want := run()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 10 {
				f, got := run()
				if diff := cmp.Diff(wantFacts, f) + cmp.Diff(want, got); diff != "" {
					t.Errorf("differs from the first run:\n%s", diff)
				}
			}
		})
	}
	wg.Wait()
}

// A token is replaced whatever surrounds it.
func FuzzRedact(f *testing.F) {
	f.Add("password = ", "\"")
	f.Add("-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----")
	f.Add("curl -u a:b \\\n -H 'x'", "kind: Secret\ndata:\n  a: b")
	f.Add("\u212aey\u017fecret=\x00\xff", "\r\n")
	f.Add("sourcegraph facebook airtable", "s."+strings.Repeat("a", 24))
	d, err := Default()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, before, after string) {
		if len(before)+len(after) > 1<<14 {
			return
		}
		body := before + "\n" + github + "\n" + after
		text := strings.Split(body, "\n")
		added := facts("a.yaml", prefixed("+", text)...)
		added.Body = body
		d.Redact(&added)
		out := strings.Join(texts(added), "\n") + added.Body
		if strings.Contains(out, github) {
			t.Errorf("the token is still in %q", out)
		}
		if got := len(added.Files[0].Hunks[0].Lines); got != len(text) {
			t.Errorf("%d lines became %d", len(text), got)
		}
	})
}
