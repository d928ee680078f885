package unshown

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// apply applies hunks to a text, and fails if they don't fit.
func apply(old, patch string) (string, error) {
	lines := strings.SplitAfter(old, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	var out strings.Builder
	at := 0
	hunk := strings.SplitAfter(patch+"\n", "\n")
	for i, l := range hunk {
		body := l[min(len(l), 1):]
		if i+1 < len(hunk) && strings.HasPrefix(hunk[i+1], `\ No newline`) {
			body = strings.TrimSuffix(body, "\n")
		}
		switch {
		case l == "" || l[0] == '\\':
		case strings.HasPrefix(l, "@@ "):
			var start, n, newStart, m int
			if _, err := fmt.Sscanf(l, "@@ -%d,%d +%d,%d @@", &start, &n, &newStart, &m); err != nil {
				return "", err
			}
			if n > 0 {
				start--
			}
			for ; at < start; at++ {
				out.WriteString(lines[at])
			}
		case l[0] == '+':
			out.WriteString(body)
		case at >= len(lines) || lines[at] != body:
			return "", fmt.Errorf("the hunk has %q at line %d", l, at+1)
		case l[0] == ' ':
			out.WriteString(body)
			at++
		default:
			at++
		}
	}
	for ; at < len(lines); at++ {
		out.WriteString(lines[at])
	}
	return out.String(), nil
}

// Hunks turn any text into any other, and are counted correctly.
func TestHunksApply(t *testing.T) {
	line := rapid.SampledFrom([]string{"\n", "a\n", "b\n", "c", "c\r\n", "-x\n", "+x\n", "@@ -1 +1 @@\n", "\\ No\n", "one more\n", "\x00\n", "ü\n", "d"})
	text := rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(line, 0, 30).Draw(t, "lines"), "") })
	sample.Check(t, func(t *rapid.T) {
		old, changed := text.Draw(t, "old"), text.Draw(t, "new")
		patch, added, removed := Hunks([]byte(old), []byte(changed))
		if old == changed {
			if patch != "" || added+removed != 0 {
				t.Fatalf("nothing changed, but the patch is %q", patch)
			}
			return
		}
		got, err := apply(old, patch)
		if err != nil || got != changed {
			t.Fatalf("%q to %q by\n%s\nis %q, %v", old, changed, patch, got, err)
		}
		if added-removed != lineCount(changed)-lineCount(old) {
			t.Fatalf("+%d -%d of %q to %q", added, removed, old, changed)
		}
	})
}

func lineCount(s string) int {
	n := strings.Count(s, "\n")
	if s != "" && !strings.HasSuffix(s, "\n") {
		n++
	}
	return n
}

// For typical edits git counts the same lines: unique lines are added, removed, changed and
// moved.
func TestCountsMatchGit(t *testing.T) {
	dir := t.TempDir()
	sample.Check(t, func(t *rapid.T) {
		var lines []string
		for i := range rapid.IntRange(1, 60).Draw(t, "lines") {
			lines = append(lines, fmt.Sprintf("line %d\n", i))
		}
		old := strings.Join(lines, "")
		for i := range rapid.IntRange(1, 5).Draw(t, "edits") {
			at := rapid.IntRange(0, max(0, len(lines)-1)).Draw(t, "at")
			switch {
			case len(lines) == 0 || rapid.Bool().Draw(t, "add"):
				lines = append(lines[:at:at], append([]string{fmt.Sprintf("new %d\n", i)}, lines[at:]...)...)
			case rapid.Bool().Draw(t, "change"):
				lines[at] = fmt.Sprintf("changed %d\n", i)
			default:
				lines = append(lines[:at:at], lines[at+1:]...)
			}
		}
		changed := strings.Join(lines, "")
		_, added, removed := Hunks([]byte(old), []byte(changed))
		if a, r := numstat(t, dir, old, changed); a != added || r != removed {
			t.Fatalf("+%d -%d, but git counts +%d -%d:\n%s\n%s", added, removed, a, r, old, changed)
		}
	})
}

// numstat asks git how many lines differ.
func numstat(t *rapid.T, dir, old, changed string) (added, removed int) {
	if old == changed {
		return 0, 0
	}
	for name, text := range map[string]string{"old": old, "new": changed} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("git", "diff", "--no-index", "--numstat", "old", "new")
	cmd.Dir = dir
	out, _ := cmd.Output() // git exits with 1 if the files differ
	fields := strings.Fields(string(out))
	if len(fields) < 2 {
		t.Fatalf("git prints %q", out)
	}
	added, _ = strconv.Atoi(fields[0])
	removed, _ = strconv.Atoi(fields[1])
	return added, removed
}

// BenchmarkDiffLines compares long files in which one line in a hundred changed, and files of
// one line.
func BenchmarkDiffLines(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		var old, changed bytes.Buffer
		for i := range n {
			fmt.Fprintf(&old, "\tresult%d := compute(input, %d)\n", i, i)
			if i%100 == 0 {
				fmt.Fprintf(&changed, "\tchanged%d()\n", i)
				continue
			}
			fmt.Fprintf(&changed, "\tresult%d := compute(input, %d)\n", i, i)
		}
		b.Run(fmt.Sprintf("lines=%d", n), func(b *testing.B) {
			b.SetBytes(int64(old.Len()))
			b.ReportAllocs()
			for b.Loop() {
				Hunks(old.Bytes(), changed.Bytes())
			}
		})
	}
	line := bytes.Repeat([]byte("a"), 4<<20)
	b.Run("one line of 4 MB", func(b *testing.B) {
		b.SetBytes(int64(len(line)))
		for b.Loop() {
			Hunks(line, line[1:])
		}
	})
}
