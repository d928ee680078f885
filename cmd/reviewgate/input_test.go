package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// endless is an input of 100 MB and more: it counts what is read of it.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	e.read += len(p)
	return len(p), nil
}

// An input of 100 MB is refused, and no more of it is read than may be used.
func TestInputThatIsTooLarge(t *testing.T) {
	for command, limit := range map[string]int{"verdict": 4 << 20, "synthesize": 64 << 20} {
		var in endless
		var stdout, stderr bytes.Buffer
		code := execute(t.Context(), []string{command, "-"}, &in, &stdout, &stderr)
		if want := "standard input: the input is larger than"; code != exitUnusable || !strings.Contains(stderr.String(), want) || stdout.Len() > 0 {
			t.Errorf("%s: exit code %d, %s", command, code, stderr.String())
		}
		if in.read > limit+1<<20 {
			t.Errorf("%s read %d bytes", command, in.read)
		}
		big := filepath.Join(t.TempDir(), "big.json")
		f, err := os.Create(big)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Truncate(100 << 20); err != nil { // takes up no room
			t.Fatal(err)
		}
		f.Close()
		stderr.Reset()
		code = execute(t.Context(), []string{command, big}, strings.NewReader(""), &stdout, &stderr)
		if want := "big.json: the input is larger than"; code != exitUnusable || !strings.Contains(stderr.String(), want) {
			t.Errorf("%s: exit code %d, %s", command, code, stderr.String())
		}
	}
}

// Several files share the limit.
func TestInputsThatAreTooLargeTogether(t *testing.T) {
	dir := t.TempDir()
	var names []string
	for _, name := range []string{"a.json", "b.json"} {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, bytes.Repeat([]byte(" "), 3<<20), 0o600); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	var stderr bytes.Buffer
	code := execute(t.Context(), append([]string{"verdict"}, names...), strings.NewReader(""), io.Discard, &stderr)
	if code != exitUnusable || !strings.Contains(stderr.String(), "b.json: the input is larger than 4 MiB in all: leave something out, or split it") {
		t.Errorf("exit code %d, %s", code, stderr.String())
	}
}

// However many findings are dropped, standard error stays short.
func TestManyDroppedFindings(t *testing.T) {
	var stdout, stderr bytes.Buffer
	in := `{"agent": "a", "findings": [` + strings.Repeat("{},", 5000) + `{}]}`
	code := execute(t.Context(), []string{"synthesize", "-"}, strings.NewReader(in), &stdout, &stderr)
	if n := strings.Count(stderr.String(), "\n"); code != exitGood || n != maxTold+1 || !strings.HasSuffix(stderr.String(), "and 4901 more\n") {
		t.Errorf("exit code %d, %d lines, the last of which %s", code, n, stderr.String()[max(0, stderr.Len()-100):])
	}
	if !strings.Contains(stdout.String(), `"dropped": 5001`) {
		t.Error("the dropped findings are not counted")
	}
}
