package ghtest

import "testing"

// FuzzParseDiff: parsing any output of git ends in files or in an error, without a panic.
func FuzzParseDiff(f *testing.F) {
	f.Add("")
	f.Add(":100644 100644 aaaa bbbb M\x00a\x001\t2\ta\x00\x00diff --git a/a b/a\nindex aaaa..bbbb 100644\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\n+y\n")
	f.Add(":100644 100644 aaaa bbbb R085\x00a b\x00c\"d\x000\t0\t\x00a b\x00c\"d\x00\x00diff --git a/a b \"b/c\\\"d\"\nsimilarity index 85%\n")
	f.Add(":100644 120000 aaaa bbbb T\x00tc\x001\t1\ttc\x00\x00diff --git a/tc b/tc\ndeleted\ndiff --git a/tc b/tc\nnew\n")
	f.Add(":100644 100644 aaaa bbbb M\x00bin\x00-\t-\tbin\x00\x00diff --git a/bin b/bin\nBinary files differ\n")
	f.Fuzz(func(t *testing.T, out string) {
		d, err := parseDiff(out)
		if err != nil {
			return
		}
		for _, file := range d.Files {
			if file.Status == "" || file.Additions < 0 || file.Deletions < 0 {
				t.Errorf("file %+v of %q", file, out)
			}
		}
	})
}
