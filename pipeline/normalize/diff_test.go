package normalize

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/raw"
)

func TestReadDiff(t *testing.T) {
	const hunk = "@@ -1,2 +1,2 @@ func f()\n a\n-b\n+c\n"
	const patch = "@@ -1,2 +1,2 @@ func f()\n a\n-b\n+c"
	modified := func(path string) []raw.ChangedFile {
		return []raw.ChangedFile{{Path: path, Status: pipeline.FileModified, Additions: 1, Deletions: 1, Patch: patch}}
	}
	for name, tt := range map[string]struct {
		text, preamble string
		want           []raw.ChangedFile
	}{
		"git diff":           {text: "diff --git a/x/y.go b/x/y.go\nindex 1..2 100644\n--- a/x/y.go\n+++ b/x/y.go\n" + hunk, want: modified("x/y.go")},
		"no end of the line": {text: "diff --git a/y b/y\n--- a/y\n+++ b/y\n" + patch, want: modified("y")},
		"no prefix":          {text: "diff --git a/y a/y\n--- a/y\n+++ a/y\n" + hunk, want: modified("a/y")},
		"mnemonic prefix":    {text: "diff --git i/y w/y\n--- i/y\n+++ w/y\n" + hunk, want: modified("y")},
		"diff -ru":           {text: "diff -ru old/y new/y\n--- old/y\t2026-01-01 10:00:00\n+++ new/y\t2026-01-02 10:00:00\n" + hunk, preamble: "diff -ru old/y new/y\n", want: modified("y")},
		"a name with spaces": {text: "--- a/x y\t\n+++ b/x y\t\n" + hunk, want: modified("x y")},
		"a quoted name":      {text: "diff --git \"a/\\303\\251.go\" \"b/\\303\\251.go\"\n--- \"a/\\303\\251.go\"\n+++ \"b/\\303\\251.go\"\n" + hunk, want: modified("é.go")},
		"CRLF everywhere": {
			text: strings.ReplaceAll("diff --git a/y b/y\nindex 1..2\n--- a/y\n+++ b/y\n"+hunk, "\n", "\r\n"),
			want: []raw.ChangedFile{{Path: "y", Status: pipeline.FileModified, Additions: 1, Deletions: 1, Patch: strings.ReplaceAll(patch, "\n", "\r\n") + "\r"}},
		},
		"format-patch": {
			text:     "From 1 Mon Sep 17 00:00:00 2001\nSubject: [PATCH] t\n\nb\n---\n y | 2 +-\n\ndiff --git a/y b/y\n--- a/y\n+++ b/y\n" + hunk + "-- \n2.47.0\n\n",
			preamble: "From 1 Mon Sep 17 00:00:00 2001\nSubject: [PATCH] t\n\nb\n---\n y | 2 +-\n\n", want: modified("y"),
		},
		"lines like headers": {
			text: "--- a/y.sql\n+++ b/y.sql\n@@ -1,2 +1,2 @@\n--- a comment\n-diff --git a b\n+++ b/z\n+@@ -1 +1 @@\n",
			want: []raw.ChangedFile{{Path: "y.sql", Status: pipeline.FileModified, Additions: 2, Deletions: 2, Patch: "@@ -1,2 +1,2 @@\n--- a comment\n-diff --git a b\n+++ b/z\n+@@ -1 +1 @@"}},
		},
		"empty lines without their space": {
			text: "--- a/x\n+++ b/x\n@@ -1,4 +1,4 @@\n a\n\n-b\n+c\n\n",
			want: []raw.ChangedFile{{Path: "x", Status: pipeline.FileModified, Additions: 1, Deletions: 1, Patch: "@@ -1,4 +1,4 @@\n a\n\n-b\n+c\n "}},
		},
		"files of every kind": {
			text: "diff --git a/new b/new\nnew file mode 100644\n--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+a\n\\ No newline at end of file\n" +
				"diff --git a/gone b/gone\ndeleted file mode 100644\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n" +
				"diff --git a/empty b/empty\nnew file mode 100644\nindex 0..e69de29\n" +
				"diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n" +
				"diff --git a/one b/two\nsimilarity index 100%\nrename from one\nrename to two\n" +
				"diff --git a/b/c b/b/d\nsimilarity index 90%\nrename from b/c\nrename to b/d\n--- a/b/c\n+++ b/b/d\n@@ -1 +1 @@\n-a\n+b\n" +
				"diff --git a/x b/copy\ncopy from x\ncopy to copy\n" +
				"diff --git a/p.png b/p.png\nBinary files a/p.png and b/p.png differ\n" +
				"diff --git a/q.png b/q.png\nnew file mode 100644\nGIT binary patch\nliteral 3\nKcmZ\n\nliteral 0\nHcmV?d00001\n\n" +
				"--- m/there\n+++ n/there\n@@ -0,0 +1 @@\n+a\n--- m/was\n+++ n/was\n@@ -1 +0,0 @@\n-a\n",
			want: []raw.ChangedFile{
				{Path: "new", Status: pipeline.FileAdded, Additions: 1, Patch: "@@ -0,0 +1 @@\n+a\n\\ No newline at end of file"},
				{Path: "gone", Status: pipeline.FileRemoved, Deletions: 1, Patch: "@@ -1 +0,0 @@\n-a"},
				{Path: "empty", Status: pipeline.FileAdded, Empty: true},
				{Path: "run.sh", Status: pipeline.FileChanged},
				{Path: "two", PreviousPath: "one", Status: pipeline.FileRenamed},
				{Path: "b/d", PreviousPath: "b/c", Status: pipeline.FileRenamed, Additions: 1, Deletions: 1, Patch: "@@ -1 +1 @@\n-a\n+b"},
				{Path: "copy", PreviousPath: "x", Status: pipeline.FileCopied},
				{Path: "p.png", Status: pipeline.FileModified, Binary: true},
				{Path: "q.png", Status: pipeline.FileAdded, Binary: true},
				{Path: "there", Status: pipeline.FileAdded, Additions: 1, Patch: "@@ -0,0 +1 @@\n+a"},
				{Path: "was", Status: pipeline.FileRemoved, Deletions: 1, Patch: "@@ -1 +0,0 @@\n-a"},
			},
		},
	} {
		got, err := ReadDiff(tt.text)
		if diff := cmp.Diff(Diff{tt.preamble, tt.want}, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
}

func TestReadDiffRefuses(t *testing.T) {
	const hunk = "@@ -1 +1 @@\n-a\n+b\n"
	for name, tt := range map[string]struct{ text, says string }{
		"nothing":                     {"", "there is no changed file in it: write it with git diff"},
		"prose":                       {"Dear all,\n--- see below\n+++ and above\n", "there is no changed file"},
		"a hunk alone":                {hunk, "there is no changed file"},
		"the parent":                  {"--- a/../x\n+++ b/../x\n" + hunk, `line 2: "../x" is not a path within a repository`},
		"the parent, moved":           {"diff --git a/x b/y\nrename from ../x\nrename to y\n", `line 3: "../x" is not a path`},
		"an absolute path":            {"--- /etc/passwd\n+++ /etc/passwd\n" + hunk, `"/etc/passwd" is not a path`},
		"a root behind b/":            {"--- a//etc/passwd\n+++ b//etc/passwd\n" + hunk, `"/etc/passwd" is not a path`},
		"a NUL in a path":             {"--- a/x\x00\n+++ b/x\x00\n" + hunk, `"x\x00" is not a path`},
		"a quoted NUL":                {"--- \"a/x\\000\"\n+++ \"b/x\\000\"\n" + hunk, `"x\x00" is not a path`},
		"a path of bytes":             {"--- \"a/\\377\"\n+++ \"b/\\377\"\n" + hunk, "is not a path"},
		"a broken quote":              {"--- \"a/x\n+++ \"b/x\n" + hunk, "line 2: a name is not quoted as git quotes it"},
		"no name":                     {"--- a/\n+++ b/\n" + hunk, "line 2: the file has no name"},
		"two names":                   {"diff --git a/x b/yy\nold mode 100644\nnew mode 100755\n", "line 1: the names in"},
		"too few lines":               {"--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n-a\n+b\n", "line 5: hunk ends with 2 old and 2 new lines missing: the diff is damaged"},
		"too many lines":              {"--- a/x\n+++ b/x\n" + hunk + "+c\n", "line 6: this line is in no hunk"},
		"too much context":            {"--- a/x\n+++ b/x\n" + hunk + " c\n", "line 6: this line is in no hunk"},
		"a line without an operation": {"--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-a\n+b\n?\n", "line 6: line does not fit its hunk"},
		"an unknown header":           {"--- a/x\n+++ b/x\n@@ -one +1 @@\n-a\n", "line 3: hunk header is not"},
		"hunks that overlap":          {"--- a/x\n+++ b/x\n" + hunk + hunk, "line 8: the hunks don't fit together: line 6 of the patch: hunk overlaps"},
		"no hunks":                    {"diff --git a/x b/x\nindex 1..2 100644\n", "line 2: the file has no hunks: the diff is cut short"},
		"a hunk after prose":          {"--- a/x\n+++ b/x\n" + hunk + "so\n" + hunk, "line 7: no file is named above this hunk"},
		"a merge":                     {"diff --cc x\nindex 1,2..3\n--- a/x\n+++ b/x\n@@@ -1,1 -1,1 +1,1 @@@\n- a\n -b\n++c\n", "line 1: this is the combined diff of a merge"},
		"a series":                    {"--- a/x\n+++ b/x\n" + hunk + "--- a/x\n+++ b/x\n" + hunk, `line 7: "x" is changed a second time: write a series of patches as one`},
		"very many files":             {manyFiles(MaxDiffFiles + 1), "changes more than 3000 files: split it"},
	} {
		if _, err := ReadDiff(tt.text); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: error %v, want %q", name, err, tt.says)
		}
	}
}

func manyFiles(n int) string {
	var b strings.Builder
	for i := range n {
		name := strings.Repeat("x", i/26+1) + string(rune('a'+i%26))
		b.WriteString("diff --git a/" + name + " b/" + name + "\nold mode 100644\n")
	}
	return b.String()
}

// Long lines and very many headers take no more memory than their length.
func TestReadDiffOfHugeLines(t *testing.T) {
	long := strings.Repeat("x", 4<<20)
	got, err := ReadDiff(long + "\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-" + long + "\n+b")
	if err != nil || len(got.Files) != 1 || got.Files[0].Deletions != 1 {
		t.Errorf("%d files, %v", len(got.Files), err)
	}
	if _, err := ReadDiff("--- a/x\n+++ b/x\n@@ -1,2147483646 +1,2147483646 @@\n a\n"); err == nil {
		t.Error("a header that promises too many lines is accepted")
	}
}

// Every accepted diff can be reviewed: its paths are within the repository, and its hunks hold what
// they say.
func FuzzReadDiff(f *testing.F) {
	f.Add("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n-- \n2.1\n")
	f.Add("diff --git a/one b/two\nrename from one\nrename to two\n")
	f.Add("--- a/x\t1970\r\n+++ b/x\r\n@@ -0,0 +1 @@\r\n+a\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		d, err := ReadDiff(text)
		if err != nil {
			return
		}
		for _, c := range d.Files {
			if c.Path == "" || strings.HasPrefix(c.Path, "/") || strings.Contains("/"+c.Path+"/", "/../") {
				t.Errorf("path %q", c.Path)
			}
			hunks, err := parsePatch(c.Patch)
			if added, removed := countLines(hunks); err != nil || added != c.Additions || removed != c.Deletions {
				t.Errorf("%q: %d added, %d removed, %v", c.Patch, added, removed, err)
			}
		}
	})
}
