package policytest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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
}
