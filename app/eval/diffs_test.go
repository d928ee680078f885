package eval

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/run"
)

// insecure is a diff with one finding of the shipped rules.
const insecure = `diff --git a/store/client.go b/store/client.go
new file mode 100644
--- /dev/null
+++ b/store/client.go
@@ -0,0 +1,10 @@
+package store
+
+import (
+	"crypto/tls"
+	"net/http"
+)
+
+func client() *http.Client {
+	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
+}
`

// files writes texts below a directory of the test.
func files(t *testing.T, texts map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range texts {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func diffsOf(t *testing.T, texts map[string]string) []DiffFile {
	t.Helper()
	diffs, err := FindDiffs(files(t, texts))
	if err != nil {
		t.Fatal(err)
	}
	return diffs
}

func TestFindDiffs(t *testing.T) {
	var names []string
	for _, d := range diffsOf(t, map[string]string{"b.diff": "", "a/z.patch": "", "a/expected.json": "", "README.md": "", ".git/x.patch": "", "a.diff": "", "c.v2.diff": ""}) {
		names = append(names, d.Case)
	}
	if want := []string{"a", "a/z", "b", "c.v2"}; !slices.Equal(names, want) {
		t.Errorf("cases %q, want %q", names, want)
	}
	for says, texts := range map[string]map[string]string{
		"has no diffs: put files there":                                 {"README.md": ""},
		`"x.diff" and "x.patch" would both be the case "x": rename one`: {"x.patch": "", "x.diff": ""},
	} {
		if _, err := FindDiffs(files(t, texts)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("error %v, want %q", err, says)
		}
	}
	if _, err := FindDiffs(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing directory: %v", err)
	}
}

// An unreadable diff is named and does not stop the others. The findings do not depend on the
// form of the diff.
func TestRunDiffs(t *testing.T) {
	diffs := diffsOf(t, map[string]string{
		"bad.diff":     "no diff",
		"crlf.diff":    strings.ReplaceAll(insecure, "\n", "\r\n"),
		"escape.diff":  "--- a/../x\n+++ b/../x\n@@ -1 +1 @@\n-a\n+b\n",
		"mark.diff":    "\xef\xbb\xbf" + insecure,
		"mail.patch":   "From 1 Mon Sep 17 00:00:00 2001\nFrom: Kim <kim@example.com>\nSubject: [PATCH] fix\n\n---\n" + insecure + "-- \n2.47.0\n",
		"plain.diff":   strings.SplitN(insecure, "\n", 3)[2],
		"utf16.diff":   "\xff\xfed\x00",
		"sub/git.diff": insecure,
		"clean.diff":   "--- a/x.go\n+++ b/x.go\n@@ -5,3 +5,3 @@ func f() {\n a()\n-b()\n+c()\n d()\n",
		"picture.diff": "diff --git a/x.png b/x.png\nBinary files a/x.png and b/x.png differ\n",
	})
	got, err := RunDiffs(t.Context(), diffs, options(nil))
	if err != nil {
		t.Fatal(err)
	}
	if got.SchemaVersion != FindingsVersion || got.Tool != "reviewgate" || got.ToolVersion != "devel" || got.Usage != (Usage{}) {
		t.Errorf("head %+v", got)
	}
	says := map[string]string{"bad": "there is no changed file", "escape": "not a path within a repository", "utf16": "is in UTF-16"}
	for _, c := range got.Cases {
		switch why, unusable := says[c.Case]; {
		case unusable:
			if c.Status != CaseUnusable || len(c.Reasons) != 1 || !strings.Contains(c.Reasons[0], why) || c.Findings == nil {
				t.Errorf("%+v, want unusable: %q", c, why)
			}
		case c.Status != CaseOK || len(c.Reasons) > 0:
			t.Errorf("%+v, want a reviewed case", c)
		case c.Case == "clean" || c.Case == "picture":
			if len(c.Findings) > 0 || c.Decision != pipeline.DecisionPass {
				t.Errorf("%+v, want no findings", c)
			}
		default:
			i := slices.IndexFunc(c.Findings, func(f Found) bool { return f.Path == "store/client.go" && f.StartLine == 9 })
			if i < 0 || c.Findings[i].Title == "" || c.Findings[i].Body == "" || c.Findings[i].Severity != pipeline.SeverityMajor ||
				c.Findings[i].RuleID == "" || !slices.Equal(c.Findings[i].Agents, []string{"security-reviewer"}) || !c.Decision.Blocks() {
				t.Errorf("%+v, want the certificate that is not checked", c)
			}
		}
	}
	again, err := RunDiffs(t.Context(), diffs, options(nil))
	if diff := cmp.Diff(got, again); err != nil || diff != "" {
		t.Errorf("the second run: %v\n%s", err, diff)
	}
	if _, wrong := backAndForth(t, got); len(wrong) > 0 {
		t.Errorf("the written findings can't be read: %v", wrong)
	}
}

// backAndForth writes findings and reads them like a scorer.
func backAndForth(t *testing.T, f Findings) (ReviewedCases, []error) {
	t.Helper()
	text, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	read, left, problems := ReadFindings("findings.json", text)
	var wrong []error
	for _, p := range problems {
		wrong = append(wrong, p)
	}
	if left.Count > 0 {
		wrong = append(wrong, errors.New("fields of ours are not known: "+left.First.Pointer))
	}
	return read, wrong
}

// A link could lead out of the directory, and reading a pipe could last forever.
func TestDiffsAreSmallFiles(t *testing.T) {
	dir := files(t, map[string]string{"large.diff": insecure + strings.Repeat("\n", maxDiffBytes)})
	if err := os.Symlink(filepath.Join(files(t, map[string]string{"a": insecure}), "a"), filepath.Join(dir, "link.diff")); err != nil {
		t.Fatal(err)
	}
	diffs, err := FindDiffs(dir)
	if err != nil {
		t.Fatal(err)
	}
	got, err := RunDiffs(t.Context(), diffs, options(nil))
	if err != nil || len(got.Cases) != 2 {
		t.Fatalf("%+v, %v", got, err)
	}
	for i, says := range []string{"large.diff is too large: a diff may have 8 MiB, so split it", "link.diff is not a regular file: put a copy"} {
		if c := got.Cases[i]; c.Status != CaseUnusable || !strings.Contains(c.Reasons[0], says) {
			t.Errorf("%+v, want %q", c, says)
		}
	}
}

func TestRunDiffsStops(t *testing.T) {
	diffs := diffsOf(t, map[string]string{"a.diff": insecure})
	o := options(nil)
	o.Agent = "nobody"
	var bad *UnusableError
	if _, err := RunDiffs(t.Context(), diffs, o); !errors.As(err, &bad) {
		t.Errorf("an unknown agent: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := RunDiffs(ctx, diffs, options(nil)); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}

func TestTakeOutcome(t *testing.T) {
	var o run.Outcome
	r := &o.Review.Report
	for range maxCaseFindings + 1 {
		r.Findings = append(r.Findings, pipeline.Finding{Path: "b.go", StartLine: 2, Title: "late", Agent: "quality", Message: "m", WhyItMatters: "m", Recommendation: "r",
			FoundBy: []pipeline.Maker{{Agent: "quality", Model: "atlas"}, {Agent: "bugs", Model: "atlas"}}})
	}
	r.Findings[0] = pipeline.Finding{Section: pipeline.SectionTitle, Title: "The title says nothing"}
	r.Findings[5].Path, r.Findings[6].StartLine = "a.go", 1
	r.Incomplete = []pipeline.Incompleteness{{What: "patch", Path: "x.bin", Why: "nobody can read it"}}
	o.Record.ModelUse = []pipeline.ModelUse{{Asked: 1, Input: 5, CostUSD: 0.1}, {Asked: 2, Output: 3, Cached: 1, CostUSD: 0.2}}

	take := func(titled bool) CaseFound {
		var c CaseFound
		c.take(&o, titled)
		return c
	}
	c := take(false)
	if c.Status != CaseIncomplete || !slices.Equal(c.Reasons, []string{"patch x.bin: nobody can read it"}) || len(c.Findings) != maxCaseFindings {
		t.Errorf("%s, %q, %d findings", c.Status, c.Reasons, len(c.Findings))
	}
	if f := c.Findings; f[0].Path != "a.go" || f[1].StartLine != 1 || f[2].Body != "m\n\nr" || !slices.Equal(f[2].Agents, []string{"bugs", "quality"}) || f[2].SaidBy != "atlas only" {
		t.Errorf("first %+v, then %+v and %+v", f[0], f[1], f[2])
	}
	if c.Usage != (Usage{3, 5, 1, 3, 0.3}) {
		t.Errorf("usage %+v", c.Usage)
	}
	if c := take(true); len(c.Findings) != maxCaseFindings || c.Reasons[1] != "of its findings the worst 1000 are listed" {
		t.Errorf("%d findings, %q", len(c.Findings), c.Reasons)
	}
	for _, i := range []pipeline.Incompleteness{{What: "agent", Why: "quality timed out"}, {What: "stage", Why: "the stage dispatch failed"}} {
		r.Incomplete = []pipeline.Incompleteness{i, {What: "patch", Path: "x.bin", Why: "nobody can read it"}}
		if c := take(false); c.Status != CaseUnfinished || c.Reasons[0] != i.What+": "+i.Why {
			t.Errorf("%s, %q", c.Status, c.Reasons)
		}
	}
}

func TestReadMail(t *testing.T) {
	for text, want := range map[string][2]string{
		"From 1 Mon Sep 17 00:00:00 2001\nFrom: a <a@example.com>\nDate: x\nSubject: [PATCH 2/3] fix: count\n again\n\nBecause.\n\nIt is so.\n---\n a | 2 +-\n": {"fix: count again", "Because.\n\nIt is so."},
		"Subject: t\r\n\r\nb\r\n---\r\n":          {"t", "b"},
		"Subject: =?UTF-8?q?caf=C3=A9?=\n\n---\n": {"café", ""},
		"Subject: [PATCH]\n\nb\n":                 {},
		"commit 1\nAuthor: a\n\n    fix\n":        {},
		"":                                        {}, "diff -ru a b\n": {}, "From: a\n\nSubject: no\n": {},
	} {
		title, body, err := readMail(text)
		if title != want[0] || body != want[1] || (err == nil) != (title != "") {
			t.Errorf("%q: %q, %q, %v; want %q", text, title, body, err, want)
		}
	}
}
