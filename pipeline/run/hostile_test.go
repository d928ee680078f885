package run

import (
	"fmt"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/raw"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// hostileChanges are changes that take much memory for their size. Each has about size bytes.
func hostileChanges(size int) map[string]func() []raw.ChangedFile {
	file := func(name string, lines int, line func(i int) string) raw.ChangedFile {
		var b strings.Builder
		fmt.Fprintf(&b, "@@ -0,0 +1,%d @@\n", lines)
		for i := range lines {
			b.WriteString("+" + line(i) + "\n")
		}
		return raw.ChangedFile{Path: name, Status: pipeline.FileAdded, Patch: b.String(), Additions: lines}
	}
	files := func(n int, name string, lines int, line func(i int) string) (all []raw.ChangedFile) {
		for i := range n {
			all = append(all, file(fmt.Sprintf("%d/%s", i, name), max(1, lines), line))
		}
		return all
	}
	hunks := func(n int, path string) raw.ChangedFile {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "@@ -%d +%d @@ f\n-a\n+b\n", 2*i+1, 2*i+1)
		}
		return raw.ChangedFile{Path: path, Status: pipeline.FileModified, Patch: b.String(), Additions: n, Deletions: n}
	}
	removed := file("gone.go", size/10/8, func(int) string { return "if x {" })
	removed.Status, removed.Additions, removed.Deletions = pipeline.FileRemoved, 0, removed.Additions
	removed.Patch = strings.NewReplacer("\n+", "\n-", "@@ -0,0 +1,", "@@ -1,", " @@\n", " +0,0 @@\n").Replace(removed.Patch)
	const digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	token := func(i int) string {
		b := []byte("ghp_")
		for x, k := uint64(i)*0x9E3779B97F4A7C15+1, 0; k < 36; k++ {
			x ^= x << 13
			x ^= x >> 7
			x ^= x << 17
			b = append(b, digits[x%62])
		}
		return string(b)
	}
	return map[string]func() []raw.ChangedFile{
		"short lines": func() []raw.ChangedFile { return files(10, "a.go", size/10/3, func(int) string { return "x" }) },
		"empty lines": func() []raw.ChangedFile { return files(10, "a.go", size/10/2, func(int) string { return "" }) },
		"one long line": func() []raw.ChangedFile {
			return files(4, "a.js", 1, func(int) string { return strings.Repeat("a=b;", size/16) })
		},
		"many files": func() []raw.ChangedFile {
			return files(size/100, "a.go", 1, func(int) string { return "package a" })
		},
		"many hunks": func() []raw.ChangedFile {
			return []raw.ChangedFile{hunks(size/60, "a.go"), hunks(size/60, "b.go")}
		},
		"tokens": func() []raw.ChangedFile {
			return files(10, ".env", size/10/50, func(i int) string { return "K=" + token(i) })
		},
		"findings": func() []raw.ChangedFile {
			return files(10, "a.ts", size/10/12, func(int) string { return "debugger;" })
		},
		"many rules": func() []raw.ChangedFile {
			return files(10, "a.py", size/10/60, func(int) string { return `os.system(x); eval(y); pickle.loads(z); print(1); a == None` })
		},
		"removed lines": func() []raw.ChangedFile { return []raw.ChangedFile{removed} },
		"control bytes": func() []raw.ChangedFile {
			return files(10, "a.txt", size/10/3, func(int) string { return "\x00\xff" })
		},
		"ignore": func() []raw.ChangedFile {
			return files(10, "a.ts", size/10/50, func(int) string { return "debugger; // reviewgate:ignore hygiene-debugger" })
		},
		"private keys": func() []raw.ChangedFile {
			return files(10, "a.pem", size/10/40, func(int) string { return "-----BEGIN RSA PRIVATE KEY-----" })
		},
		"near misses": func() []raw.ChangedFile {
			return files(10, "a.js", size/10/30, func(i int) string { return fmt.Sprintf("password = api_key_%d_abc=", i) })
		},
	}
}

// hostileBar is the limit on the live memory of one review, in bytes.
const hostileBar = 400 << 20

// No change takes more than its share of memory, whatever is in it.
func TestHostileChangesTakeBoundedMemory(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(10))
	cfg, problems := config.Load()
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	r, err := NewRunner(Config{Version: "test", Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	size := sample.Size(1<<20, 2<<20)
	if testing.Short() { // with the race detector, more text shows nothing new
		size = 1 << 14
	}
	for name, make := range sample.Map(t, 2, hostileChanges(size)) {
		t.Run(name, func(t *testing.T) {
			files := make()
			debug.FreeOSMemory()
			peak := sample.WatchHeap()
			began := time.Now()
			out, err := r.Run(t.Context(), &inMemory{cfg: cfg, files: files}, Options{})
			most := peak()
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s: peak %d MB, %s, %d findings, %d redactions, %d incomplete, %s", name, most>>20, time.Since(began).Round(time.Millisecond),
				len(out.Review.Report.Findings), len(out.Review.Facts.Redactions), len(out.Review.Facts.Incomplete), out.Review.Report.Decision)
			if most > hostileBar {
				t.Errorf("the review takes %d MB", most>>20)
			}
		})
	}
}
