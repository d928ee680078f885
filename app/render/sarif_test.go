package render

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/reviewgate/reviewgate/app/render/rendertest"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

func TestSARIF(t *testing.T) {
	for name, view := range map[string]func() View{
		"resolved": resolvedView, "incomplete": incompleteView, "aside": asideView, "broken-config": brokenConfigView, "repeated": repeatedView,
		"disagree": disagreeView, "findings": findingsView, "hostile": hostileView,
	} {
		got, err := SARIF(view())
		if err != nil {
			t.Fatal(err)
		}
		golden(t, "sarif/"+name+".sarif", string(got))
	}
}

// The SARIF of every review obeys the standard's schema, and what GitHub's code scanning documents.
func TestSARIFIsWhatGitHubAccepts(t *testing.T) {
	for _, s := range samples {
		b, err := SARIF(s.view())
		if err == nil {
			err = rendertest.GitHubAccepts(b)
		}
		if err != nil {
			t.Errorf("%s: %v", s.name, err)
		}
	}
	sample.Check(t, func(t *rapid.T) {
		b, err := SARIF(hostileViews().Draw(t, "view"))
		if err == nil {
			err = rendertest.GitHubAccepts(b)
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, b)
		}
	})
}

// A finding about a whole file is at its first line. One without a file is not a result, but named.
func TestSARIFHasAPlaceForEachResult(t *testing.T) {
	v := findingsView()
	fs := v.Review.Report.Findings
	fs[1].Path = "a b/tötal.ts"
	fs[3].StartLine, fs[3].EndLine = 0, 0
	run := newSARIF(v, maxSARIFResults).Runs[0]
	var got []string
	for _, r := range run.Results {
		at := r.Locations[0].PhysicalLocation
		got = append(got, fmt.Sprintf("%s %s %s:%d:%d-%d:%d", r.Level, r.RuleID, at.ArtifactLocation.URI, at.Region.StartLine, at.Region.StartColumn, at.Region.EndLine, at.Region.EndColumn))
	}
	want := []string{
		"error aws-access-token client/http.go:17:1-17:1",
		"error fin-decimal-01 a%20b/t%C3%B6tal.ts:42:1-42:1", // not in the diff
		"error sec-tls-verify-01 client/http.go:18:1-18:96",
		"warning br-errors-03 api/orders.go:1:1-1:1",
		"note agent/build-reviewer api/orders.go:75:1-75:26",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	note := run.Invocations[0].ToolExecutionNotifications[0]
	if note.Message.Text != "1 finding about the change as a whole has no file, so this format leaves it out: Description is empty (warning)" {
		t.Error(note.Message.Text)
	}
	if diff := cmp.Diff(map[string]string{sarifFingerprint: "fedcba9876543210"}, run.Results[1].PartialFingerprints); diff != "" {
		t.Error(diff)
	}
}

// Rules of security have a score and a tag, by their agent or their category. Others have neither.
func TestSARIFMarksSecurity(t *testing.T) {
	v := findingsView()
	fs := v.Review.Report.Findings
	fs[3].RuleID, fs[3].Category = "", "sql-injection"
	fs[5].Category = "naming"
	v.Rules = map[string]RuleNote{"sec-tls-verify-01": {
		Name: "Certificates aren't verified", Description: "Anyone can listen.", Recommendation: "Verify them.",
		Reference: "https://owasp.example/tls", Severity: pipeline.SeverityCritical,
	}}
	var got []string
	for _, r := range newSARIF(v, maxSARIFResults).Runs[0].Tool.Driver.Rules {
		got = append(got, strings.Join([]string{r.ID, r.Properties.SecuritySeverity, r.Properties.Precision, r.Properties.ProblemSeverity, strings.Join(r.Properties.Tags, "+"), r.FullDescription.Text}, " | "))
		if r.ID == "sec-tls-verify-01" {
			want := sarifText{"Anyone can listen.\n\nFix: Verify them.\n\nSee https://owasp.example/tls",
				"Anyone can listen.\n\nFix: Verify them.\n\nSee [`https://owasp.example/tls`](https://owasp.example/tls)"}
			if diff := cmp.Diff(want, r.Help); diff != "" || r.HelpURI != "https://owasp.example/tls" {
				t.Errorf("help %s, %s", r.HelpURI, diff)
			}
		}
	}
	want := []string{
		"aws-access-token | 9.5 | high | error | secrets+security | An AWS access key is in the code.",
		"fin-decimal-01 |  | high | error | financial-arithmetic | Sums of prices drift by a cent after a few lines; this total is charged to the card on line 61.",
		"sec-tls-verify-01 | 9.5 | high | error | security | Anyone can listen.",
		"agent/build-reviewer/sql-injection | 5.5 | medium | warning | sql-injection+security | Untrusted text becomes part of a query.",
		"agent/build-reviewer/naming |  | medium | recommendation | naming | A name that misleads.",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A file beyond the limits loses its least severe results, and says how many.
func TestSARIFStaysWithinTheLimits(t *testing.T) {
	v := overflowView(200)
	fs := v.Review.Report.Findings
	fs[199].Path, fs[199].Severity, fs[199].GateSeverity = "last.ts", pipeline.SeverityCritical, pipeline.SeverityCritical
	for _, c := range []struct{ results, size, left int }{{200, maxSARIFBytes, 200}, {100, maxSARIFBytes, 100}, {200, 3000, 0}} {
		b, err := sarifWithin(v, c.results, c.size)
		if err != nil {
			t.Fatal(err)
		}
		n := len(readSARIF(t, b).Results)
		if c.left > 0 && n != c.left || n == 0 || gzipped(b) > c.size || !strings.Contains(string(b), "last.ts") {
			t.Errorf("%+v: %d results, %d bytes", c, n, gzipped(b))
		}
		cut := fmt.Sprintf("%d results, the least severe ones, are left out", 200-n)
		if strings.Contains(string(b), cut) != (n < 200) || strings.Contains(string(b), "least severe") != (n < 200) {
			t.Errorf("%+v: the file does not say %q", c, cut)
		}
	}
}

// The limits are GitHub's.
func TestLargestSARIF(t *testing.T) {
	sample.Variant(t) // it takes long to check so many results against the schema
	v := overflowView(maxSARIFResults + 7)
	for i := range v.Review.Report.Findings {
		v.Review.Report.Findings[i].RuleID = fmt.Sprintf("rule-%d", i)
	}
	b, err := SARIF(v)
	if err != nil {
		t.Fatal(err)
	}
	if err := rendertest.GitHubAccepts(b); err != nil {
		t.Error(err)
	}
	if n := len(readSARIF(t, b).Results); n != maxSARIFResults {
		t.Errorf("%d results", n)
	}
}

func readSARIF(t *testing.T, b []byte) sarifRun {
	t.Helper()
	var log sarifLog
	if err := json.Unmarshal(b, &log); err != nil {
		t.Fatal(err)
	}
	return log.Runs[0]
}
