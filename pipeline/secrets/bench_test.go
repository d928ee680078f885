package secrets

import (
	"fmt"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/pipeline"
)

// benchPiece is about the size of a large hunk; gitleaks gets slower on larger
// ones.
const benchPiece = 8 << 10

func benchPieces(b *testing.B, limit int) (texts []string, paths []string) {
	b.Helper()
	size := 0
	for _, f := range code(b, limit) {
		for _, p := range pieces(f.text, benchPiece) {
			size += len(p)
			texts, paths = append(texts, p), append(paths, f.path)
		}
	}
	b.SetBytes(int64(size))
	return texts, paths
}

// BenchmarkDetector and BenchmarkGitleaks look for secrets in the same pieces
// of code, in one goroutine.
func BenchmarkDetector(b *testing.B) {
	d := newDetector(b)
	texts, paths := benchPieces(b, 8<<20)
	n := 0
	for b.Loop() {
		n = 0
		for i, text := range texts {
			if s := d.search(text); s != nil {
				n += len(s.gitleaks(paths[i], nil))
			}
		}
	}
	b.ReportMetric(float64(n), "findings")
}

func BenchmarkGitleaks(b *testing.B) {
	d := plain(b)
	texts, paths := benchPieces(b, 8<<20)
	n := 0
	for b.Loop() {
		n = 0
		for i, text := range texts {
			n += len(d.Detect(fragment(text, paths[i])))
		}
	}
	b.ReportMetric(float64(n), "findings")
}

// BenchmarkRedact redacts changes made to be slow: every line holds a secret,
// in one hunk, or all stand on one line. The rates of ten times the size have
// to be about the same.
func BenchmarkRedact(b *testing.B) {
	d := newDetector(b)
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

func BenchmarkNewDetector(b *testing.B) {
	for b.Loop() {
		newDetector(b)
	}
}
