package secrets

import (
	"fmt"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/internal/history"
)

// benchPiece is about the size of a large hunk. Gitleaks gets slower on larger ones.
const benchPiece = 8 << 10

// piece is a text with the path of its file.
type piece struct{ text, path string }

// historyPieces are added lines of the history in pieces of a hunk's size, or pieces of code if
// there is no history.
func historyPieces(t testing.TB, limit int) (list []piece, lines, size int) {
	t.Helper()
	add := func(path, text string) {
		for _, p := range pieces(text, benchPiece) {
			if size >= limit {
				return
			}
			list = append(list, piece{p, path})
			lines += strings.Count(p, "\n")
			size += len(p)
		}
	}
	changes := history.Read(t, limit)
	for i := range changes {
		for j := range changes[i].Files {
			if text := history.Added(&changes[i].Files[j]); text != "" {
				add(changes[i].Files[j].Path, text)
			}
		}
	}
	if changes == nil {
		for _, f := range code(t, limit) {
			add(f.path, f.text)
		}
	}
	return list, lines, size
}

// BenchmarkAgainstGitleaks searches the same pieces of a real history with our detector and with
// gitleaks' own, in one goroutine, and reports how many times faster ours is. First it checks
// that both find the same.
func BenchmarkAgainstGitleaks(b *testing.B) {
	ours, theirs := detector(b), plain(b)
	list, lines, size := historyPieces(b, 8<<20)
	found := 0
	for _, p := range list {
		want := plainResults(theirs, p.text, p.path)
		if ours.skips(p.path) {
			continue // gitleaks does not search it either
		}
		found += len(want)
		if diff := gocmp.Diff(want, ourResults(ours, p.text, p.path), cmpopts.EquateEmpty()); diff != "" {
			b.Fatalf("%s (-gitleaks +ours):\n%s", p.path, diff)
		}
	}
	var own, other time.Duration
	b.SetBytes(int64(size))
	for b.Loop() {
		start := time.Now()
		for _, p := range list {
			if s := ours.search(p.text); s != nil {
				s.gitleaks(p.path, nil)
			}
		}
		own += time.Since(start)
		start = time.Now()
		for _, p := range list {
			theirs.Detect(fragment(p.text, p.path))
		}
		other += time.Since(start)
	}
	rate := func(d time.Duration) float64 { return float64(size) * float64(b.N) / 1e6 / d.Seconds() }
	b.ReportMetric(0, "MB/s") // the rate of both together means nothing
	b.ReportMetric(rate(own), "own-MB/s")
	b.ReportMetric(rate(other), "gitleaks-MB/s")
	b.ReportMetric(other.Seconds()/own.Seconds(), "x-gitleaks")
	b.ReportMetric(float64(lines), "lines")
	b.ReportMetric(float64(size), "bytes")
	b.ReportMetric(float64(found), "findings")
	b.ReportMetric(1000*float64(found)/float64(lines), "findings/1000-lines")
}

// BenchmarkRedact redacts slow changes: every line holds a secret, in one hunk, or all secrets are
// on one line. At ten times the size, the rates must be about the same.
func BenchmarkRedact(b *testing.B) {
	d := detector(b)
	secret := func(i int) string {
		return fmt.Sprintf("password = \"zR8k%05xQ4xTn6Wp1Lv%05d\"; aws = %s", i, i, aws[:12]+strings.NewReplacer("0", "A", "1", "B", "8", "C", "9", "D").Replace(fmt.Sprintf("%08d", i)))
	}
	for _, n := range []int{100, 1_000} {
		many := make([]string, n)
		for i := range many {
			many[i] = "+" + secret(i)
		}
		one := []string{"+" + strings.ReplaceAll(strings.Join(many, ";"), "\n", "")}
		for name, text := range map[string][]string{"lines": many, "one line": one} {
			b.Run(fmt.Sprintf("%s of %d", name, n), func(b *testing.B) {
				b.SetBytes(int64(len(strings.Join(text, ""))))
				var found []pipeline.Redaction
				for b.Loop() {
					f := facts("a.py", text...)
					found = d.Redact(&f)
				}
				b.ReportMetric(float64(len(found)), "redactions")
			})
		}
	}
}

func BenchmarkCompile(b *testing.B) {
	for b.Loop() {
		if _, err := compile(); err != nil {
			b.Fatal(err)
		}
	}
}
