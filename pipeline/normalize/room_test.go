package normalize

import (
	"fmt"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/raw"
)

// added returns a new file with this many lines of this text.
func added(path string, lines int, text string) raw.ChangedFile {
	return raw.ChangedFile{
		Path: path, Status: pipeline.FileAdded, Additions: lines,
		Patch: fmt.Sprintf("@@ -0,0 +1,%d @@", lines) + strings.Repeat("\n+"+text, lines),
	}
}

func incompleteOf(t *testing.T, m *memory) (pipeline.PRFacts, map[string]string) {
	t.Helper()
	facts, _, err := Normalize(t.Context(), m, Options{})
	if err != nil {
		t.Fatal(err)
	}
	why := map[string]string{}
	for _, i := range facts.Incomplete {
		if !i.Gating {
			t.Errorf("%+v does not gate", i)
		}
		why[i.Path] = i.Why
	}
	return facts, why
}

// A file with too many lines is named and gates, and the other files are read.
func TestTooManyLinesOfAFile(t *testing.T) {
	for name, file := range map[string]raw.ChangedFile{
		"short lines":   added("big.go", MaxFileLines, "x"),
		"empty lines":   added("big.go", MaxFileLines, ""),
		"removed lines": {Path: "big.go", Status: pipeline.FileRemoved, Deletions: MaxFileLines, Patch: fmt.Sprintf("@@ -1,%d +0,0 @@", MaxFileLines) + strings.Repeat("\n-x", MaxFileLines)},
		"carriage ends": added("big.go", MaxFileLines, "x\r"),
		"hunks":         {Path: "big.go", Status: pipeline.FileModified, Additions: maxFileHunks + 1, Patch: manyHunks(maxFileHunks + 1)},
	} {
		t.Run(name, func(t *testing.T) {
			facts, why := incompleteOf(t, source(file, added("small.go", 3, "package a")))
			if !strings.Contains(why["big.go"], "of one file are read") {
				t.Errorf("the reason for the large file is %q", why["big.go"])
			}
			if len(facts.Files[0].Hunks) != 0 || len(facts.Files[1].Hunks) != 1 {
				t.Errorf("the files have %d and %d hunks", len(facts.Files[0].Hunks), len(facts.Files[1].Hunks))
			}
		})
	}
}

func manyHunks(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "@@ -%d,0 +%d @@\n+a\n", i, i+1)
	}
	return b.String()
}

// Files that are small by themselves share the review's limit.
func TestTooManyLinesOfAReview(t *testing.T) {
	var files []raw.ChangedFile
	for i := range 6 {
		files = append(files, added(fmt.Sprintf("%d.go", i), 100_000, "x"))
	}
	facts, why := incompleteOf(t, source(files...))
	read := 0
	for _, f := range facts.Files {
		if len(f.Hunks) > 0 {
			read++
		} else if !strings.Contains(why[f.Path], "and no more than that are read") {
			t.Errorf("the reason for %s is %q", f.Path, why[f.Path])
		}
	}
	if read != 4 {
		t.Errorf("%d files of 100,000 lines are read, want 4", read)
	}
}

// Large files within the limits are read completely.
func TestLargeFilesAreReadWhole(t *testing.T) {
	facts, why := incompleteOf(t, source(added("a.go", 100_000, "x := 1"), added("b.go", 200_000, "x := 1")))
	if len(why) > 0 || len(facts.Files[0].Hunks[0].Lines) != 100_000 {
		t.Errorf("not read: %q", why)
	}
}

func TestTooManyFilesUnread(t *testing.T) {
	var files []raw.ChangedFile
	for i := range maxIncomplete + 50 {
		files = append(files, raw.ChangedFile{Path: fmt.Sprintf("%d.go", i), Status: pipeline.FileModified, Additions: 1})
	}
	facts, why := incompleteOf(t, source(files...))
	if len(facts.Incomplete) != maxIncomplete+1 || why[""] != "something could not be read of 50 more files" {
		t.Errorf("%d entries, the last %q", len(facts.Incomplete), why[""])
	}
}

// secretCount is a redactor that finds this many secrets.
type secretCount int

func (n secretCount) Redact(*pipeline.PRFacts) []pipeline.Redaction {
	return make([]pipeline.Redaction, n)
}

func TestTooManySecrets(t *testing.T) {
	facts, _, err := Normalize(t.Context(), source(), Options{Redactor: secretCount(maxRedactions + 1)})
	if err != nil {
		t.Fatal(err)
	}
	if len(facts.Redactions) != maxRedactions || len(facts.Incomplete) != 1 || !facts.Incomplete[0].Gating {
		t.Errorf("%d secrets are listed, and incomplete is %+v", len(facts.Redactions), facts.Incomplete)
	}
}

func TestLongCommitMessages(t *testing.T) {
	for name, messages := range map[string][]string{
		"one":  {strings.Repeat("x", maxCommitMessage+1)},
		"many": repeated(strings.Repeat("é", maxCommitMessage/2), maxMessages/maxCommitMessage+1),
	} {
		t.Run(name, func(t *testing.T) {
			m := source()
			m.commits.Commits = nil
			for i, text := range messages {
				m.commits.Commits = append(m.commits.Commits, pipeline.Commit{SHA: fmt.Sprint("h", i), Message: text})
			}
			m.pr.Commits, m.pr.Head.SHA, m.files.HeadSHA = len(messages), "h0", "h0"
			_, why := incompleteOf(t, m)
			if !strings.Contains(why[""], "are read in part") {
				t.Errorf("incomplete is %q", why)
			}
		})
	}
}

func repeated(text string, n int) (all []string) {
	for range n {
		all = append(all, text)
	}
	return all
}
