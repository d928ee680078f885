package history

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/raw"
)

const log = `commit 2222
    feat: more

    Why.

diff --git a/a.go b/a.go
index 1..2 100644
--- a/a.go
+++ b/a.go
@@ -1,2 +1,3 @@ func main() {
 x
--- looks like a header
+commit 9999
+diff --git a/x b/x
@@ -9 +10 @@
-y
\ No newline at end of file
+z
\ No newline at end of file
diff --git a/old name.txt b/new name.txt
similarity index 100%
rename from old name.txt
rename to new name.txt
diff --git a/p.png b/p.png
new file mode 100644
index 0..1
Binary files /dev/null and b/p.png differ
commit 1111
    first

diff --git "a/q\"t.go" "b/q\"t.go"
deleted file mode 100644
index 1..0
--- "a/q\"t.go"
+++ /dev/null
@@ -1 +0,0 @@
-package q
`

func TestParse(t *testing.T) {
	got, whole, err := parse(strings.NewReader(log), 1<<20)
	if err != nil || !whole {
		t.Fatalf("whole %v, error %v", whole, err)
	}
	want := []Change{
		{Commit: pipeline.Commit{SHA: "2222", Message: "feat: more\n\nWhy."}, Files: []raw.ChangedFile{
			{Path: "a.go", Status: pipeline.FileModified, Additions: 3, Deletions: 2, Patch: `@@ -1,2 +1,3 @@ func main() {
 x
--- looks like a header
+commit 9999
+diff --git a/x b/x
@@ -9 +10 @@
-y
\ No newline at end of file
+z
\ No newline at end of file`},
			{Path: "new name.txt", PreviousPath: "old name.txt", Status: pipeline.FileRenamed},
			{Path: "p.png", Status: pipeline.FileAdded, Binary: true},
		}},
		{Commit: pipeline.Commit{SHA: "1111", Message: "first"}, Files: []raw.ChangedFile{
			{Path: `q"t.go`, Status: pipeline.FileRemoved, Deletions: 1, Patch: "@@ -1 +0,0 @@\n-package q"},
		}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	lines, size := Size(got)
	if added := "commit 9999\ndiff --git a/x b/x\nz\n"; lines != 3 || size != len(added) || Added(&got[0].Files[0]) != added {
		t.Errorf("%d lines, %d bytes: %q", lines, size, Added(&got[0].Files[0]))
	}
}

// Reading ends with the commit that reaches the limit.
func TestParseUpTo(t *testing.T) {
	got, whole, err := parse(strings.NewReader(log), 10)
	if err != nil || whole || len(got) != 1 || len(got[0].Files) != 3 || got[0].Files[0].Additions != 3 {
		t.Errorf("changes %+v, whole %v, error %v, want the first commit whole", got, whole, err)
	}
}

func TestRead(t *testing.T) {
	changes := Read(t, 1<<20)
	for i := range changes {
		facts := changes[i].Facts(t)
		added := 0
		for j := range facts.Files {
			for _, h := range facts.Files[j].Hunks {
				for _, l := range h.Lines {
					if l.Op == pipeline.LineAdded {
						added++
					}
				}
			}
		}
		if lines, _ := Size(changes[i : i+1]); added != lines {
			t.Errorf("%s: %d added lines in the facts, %d in the patches", changes[i].Commit.SHA, added, lines)
		}
	}
}
