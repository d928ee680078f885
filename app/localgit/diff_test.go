package localgit

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestUnquote(t *testing.T) {
	for in, want := range map[string]string{
		`plain`: "plain", `with space`: "with space", `"tab\tx"`: "tab\tx", `"\303\274"`: "ü", `"\377"`: "\xff",
		`"q\"b\\"`: `q"b\`, `""`: "", `"\a\b\n\v\f\r"`: "\a\b\n\v\f\r",
	} {
		if got, err := unquote(in); err != nil || got != want {
			t.Errorf("unquote(%s) = %q, %v; want %q", in, got, err, want)
		}
	}
	for _, in := range []string{`"`, `"x`, `"a"b"`, `"\"`, `"\x41"`, `"\8"`, `"\12"`, `"\400"`, `"\12x"`} {
		if got, err := unquote(in); err == nil {
			t.Errorf("unquote(%s) = %q, want an error", in, got)
		}
	}
}

const sha = "0123456789012345678901234567890123456789"

func TestParseDiffRefuses(t *testing.T) {
	raw := ":100644 100644 " + sha + " " + sha + " M\ta.txt\n\n"
	for name, in := range map[string]string{
		"not raw":               "hello\n",
		"no path":               ":100644 100644 " + sha + " " + sha + " M\n",
		"empty path":            ":100644 100644 " + sha + " " + sha + " M\t\n",
		"rename with one path":  ":100644 100644 " + sha + " " + sha + " R100\ta.txt\n",
		"change with two paths": ":100644 100644 " + sha + " " + sha + " M\ta.txt\tb.txt\n",
		"patch of no file":      raw + "diff --git a/b.txt b/b.txt\n--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-a\n+b\n",
		"text before a patch":   raw + "warning: something\n",
		"header not understood": raw + "diff --git a.txt\nold mode 100644\n",
		"names without sides":   raw + "diff --git a.txt a.txt\n--- a.txt\n",
		"unknown status":        ":000000 000000 " + sha + " " + sha + " U\ta.txt\n",
		"badly quoted":          raw + "diff --git a/a.txt b/a.txt\n--- \"a/a.txt\n",
	} {
		if f, err := parseDiff(strings.NewReader(in), maxPatches); err == nil {
			t.Errorf("%s: read as %+v", name, f)
		}
	}
}

func FuzzParseDiff(f *testing.F) {
	f.Add("")
	f.Add(":100644 100644 " + sha + " " + sha + " M\ta.txt\n\ndiff --git a/a.txt b/a.txt\nindex 1..2 100644\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n")
	f.Add(":100644 100644 " + sha + " " + sha + " R086\told\t\"n\\303\\274\"\n\ndiff --git a/old \"b/n\\303\\274\"\nsimilarity index 86%\nrename from old\nrename to \"n\\303\\274\"\n@@ -1 +1 @@\n-a\n+b\n")
	f.Add(":100644 120000 " + sha + " " + sha + " T\tx\n\ndiff --git a/x b/x\ndeleted file mode 100644\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\ndiff --git a/x b/x\nnew file mode 120000\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+y\n")
	f.Add(":100644 100755 " + sha + " " + sha + " M\tx y\n\ndiff --git a/x y b/x y\nold mode 100644\nnew mode 100755\n")
	f.Add(":100644 100644 " + sha + " " + sha + " M\tx\n\ndiff --git a/x b/x\nBinary files a/x and b/x differ\n")
	f.Fuzz(func(t *testing.T, in string) {
		p, err := parseDiff(strings.NewReader(in), maxPatches)
		if err != nil {
			if len(err.Error()) > 2000 || !utf8.ValidString(err.Error()) {
				t.Errorf("error of %d bytes: %.300q", len(err.Error()), err)
			}
			return
		}
		for _, f := range p.files().Files {
			if f.Path == "" || f.Status == "" {
				t.Errorf("file %+v", f)
			}
			if f.Additions < 0 || f.Deletions < 0 || f.Additions+f.Deletions > strings.Count(in, "\n")+1 {
				t.Errorf("%q: +%d -%d", f.Path, f.Additions, f.Deletions)
			}
		}
	})
}

// BenchmarkParseDiff reads the diff of 3,000 files and 100,000 added lines.
func BenchmarkParseDiff(b *testing.B) {
	var raw, patches strings.Builder
	for i := range 3000 {
		path := fmt.Sprintf("dir%02d/file%04d.go", i%50, i)
		fmt.Fprintf(&raw, ":000000 100644 %s %s A\t%s\n", sha, sha, path)
		fmt.Fprintf(&patches, "diff --git a/%s b/%s\nnew file mode 100644\nindex %s..%s\n--- /dev/null\n+++ b/%s\n@@ -0,0 +1,34 @@\n", path, path, sha, sha, path)
		for j := range 34 {
			fmt.Fprintf(&patches, "+\tresult%d := compute(input, %d) // a line of usual length\n", j, i)
		}
	}
	in := raw.String() + "\n" + patches.String()
	b.SetBytes(int64(len(in)))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for b.Loop() {
		if _, err := parseDiff(strings.NewReader(in), maxPatches); err != nil {
			b.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/float64(b.N)/(1<<20), "MB-allocated/op")
}
