package policytest

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/normalize"
	"github.com/reviewgate/reviewgate/pipeline/raw"
)

// factsOf are the facts of changed files.
func factsOf(t *testing.T, files ...raw.ChangedFile) pipeline.PRFacts {
	t.Helper()
	cfg, _ := config.Load()
	c := change{files: files, pull: raw.PullRequest{Totals: pipeline.Totals{Files: len(files)}}}
	facts, _, err := normalize.Normalize(t.Context(), source{&c, cfg}, normalize.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return facts
}

// The diff of a recorded case has everything that the facts say of the files.
func TestDiffOf(t *testing.T) {
	patch := "@@ -1,2 +1,2 @@ func a() {\n context\n-old\n+new"
	want := factsOf(t,
		raw.ChangedFile{Path: "a.go", Status: pipeline.FileModified, Additions: 1, Deletions: 1, Patch: patch},
		raw.ChangedFile{Path: "b/added.go", Status: pipeline.FileAdded, Additions: 2, Patch: "@@ -0,0 +1,2 @@\n+package b\n+"},
		raw.ChangedFile{Path: "b/crlf.txt", Status: pipeline.FileModified, Additions: 1, Deletions: 1, Patch: "@@ -1,2 +1,2 @@\n a\r\n-b\r\n+c\r"},
		raw.ChangedFile{Path: "b/empty.go", Status: pipeline.FileAdded, Empty: true},
		raw.ChangedFile{Path: "b/logo.png", Status: pipeline.FileModified, Binary: true, LookedInto: true},
		raw.ChangedFile{Path: "b/moved.go", PreviousPath: "old/moved.go", Status: pipeline.FileRenamed},
		raw.ChangedFile{Path: "b/moved too.go", PreviousPath: "old/too.go", Status: pipeline.FileRenamed, Additions: 1, Deletions: 1, Patch: patch},
		raw.ChangedFile{Path: "c/\"quoted\"\t\\ü.md", Status: pipeline.FileModified, Additions: 1, Deletions: 1, Patch: patch},
		raw.ChangedFile{Path: "c/gone.go", Status: pipeline.FileRemoved, Deletions: 1, Patch: "@@ -1 +0,0 @@\n-package c"},
		raw.ChangedFile{Path: "c/mode.sh", Status: pipeline.FileChanged},
		raw.ChangedFile{Path: "c/two words.go", Status: pipeline.FileCopied, PreviousPath: "a.go", Additions: 1, Deletions: 1, Patch: patch},
		raw.ChangedFile{Path: "d/dashes.sql", Status: pipeline.FileModified, Additions: 1, Deletions: 1, Patch: "@@ -1 +1 @@\n--- a/x\n+++ b/x"},
	)
	text := strings.Join(diffOf(&want), "\n") + "\n"
	read, err := normalize.ReadDiff(text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	got := factsOf(t, read.Files...)
	if diff := cmp.Diff(want.Files, got.Files); diff != "" {
		t.Errorf("files (-stored +read):\n%s\n%s", diff, text)
	}
	if diff := cmp.Diff(want.Incomplete, got.Incomplete); diff != "" {
		t.Errorf("incomplete (-stored +read):\n%s", diff)
	}
}

// What a diff can't say of a file is named.
func TestLimitsOfFiles(t *testing.T) {
	cfg, _ := config.Load()
	facts := factsOf(t,
		raw.ChangedFile{Path: "bin/tool", Status: pipeline.FileModified, Binary: true, LookedInto: true},
		raw.ChangedFile{Path: "store/large.go", Status: pipeline.FileModified, Additions: 3, Deletions: 1},
	)
	read, err := normalize.ReadDiff(strings.Join(diffOf(&facts), "\n") + "\n")
	if err != nil {
		t.Fatal(err)
	}
	s := &ports.StoredReview{Review: pipeline.Review{Facts: facts}}
	got := limitsOf(s, cfg, &pipeline.Review{Facts: factsOf(t, read.Files...)})
	want := []string{"a part of the change was not read", "the content of bin/tool was read, and is not in the case", "the lines of store/large.go are not stored"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A review of which a test can repeat nothing makes no case, and the error says why.
func TestNothingToRecord(t *testing.T) {
	cfg, _ := config.Load()
	facts := factsOf(t, raw.ChangedFile{Path: "store/a.go", Status: pipeline.FileAdded, Additions: 1, Patch: "@@ -0,0 +1 @@\n+var c = &tls.Config{InsecureSkipVerify: true}"})
	facts.Title, facts.Repository = "docs: a", pipeline.Repository{Owner: "acme", Name: "shop", DefaultBranch: "main"}
	s := &ports.StoredReview{Review: pipeline.Review{Facts: facts}, HeadSHA: strings.Repeat("a", 40)}
	s.Review.Report = pipeline.Report{Decision: pipeline.DecisionFail, Gate: pipeline.Gate{Condition: "critical > 7"}}
	_, err := Record(t.Context(), s, cfg, Options{Engines: engines})
	if err == nil || !strings.HasPrefix(err.Error(), "a test of this review would meet none of its expectations: decision: want fail, got ") {
		t.Errorf("error %v", err)
	}
}

// The texts of a recorded case have no secrets, and the names of two recordings differ.
func TestRecordedTexts(t *testing.T) {
	cfg, _ := config.Load()
	token := "gh" + "p_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
	facts := factsOf(t, raw.ChangedFile{Path: "docs/a.md", Status: pipeline.FileAdded, Additions: 1, Patch: "@@ -0,0 +1 @@\n+# A"})
	facts.Title, facts.Repository = "docs: a", pipeline.Repository{Owner: "acme", Name: "shop", DefaultBranch: "main"}
	names := map[string]bool{}
	for _, sha := range []string{"a", "b"} {
		s := &ports.StoredReview{Review: pipeline.Review{Facts: facts}, HeadSHA: strings.Repeat(sha, 40)}
		s.Config = []ports.ConfigBlob{{Layer: ports.LayerAttributes, Text: []byte("# " + token + "\n")}}
		s.Review.Report = pipeline.Report{Decision: pipeline.DecisionPass}
		got, err := Record(t.Context(), s, cfg, Options{Engines: engines})
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(got.Text), token) {
			t.Errorf("the case has the token:\n%s", got.Text)
		}
		var c struct{ Name string }
		if err := json.Unmarshal(got.Text, &c); err != nil {
			t.Fatal(err)
		}
		names[c.Name] = true
	}
	if !names["acme/shop#0 at aaaaaaa: docs: a"] || len(names) != 2 {
		t.Errorf("names %v", names)
	}
}
