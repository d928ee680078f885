package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fullDisk refuses every write.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// A command whose answer can't be written fails.
func TestAnswerThatCannotBeWritten(t *testing.T) {
	valid := t.TempDir()
	clone := t.TempDir()
	if err := os.Mkdir(filepath.Join(clone, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{
		"config show", "config show --format json", "config show --explain --format json --only settings",
		"config show --changed " + valid, "config show --changed --format json " + valid,
		"config check " + valid, "config check --format json " + valid,
		"config explain a.go", "config explain --format json a.go", "config init " + clone,
		"verdict -", "verdict --format text -", "synthesize -", "synthesize --format markdown -", "synthesize --format headless -",
		"aggregate -", "aggregate --format markdown -",
	} {
		var stderr bytes.Buffer
		code := execute(t.Context(), strings.Fields(command), strings.NewReader("[]"), fullDisk{}, &stderr)
		if code != exitUnfinished || !strings.Contains(stderr.String(), "write the answer: no space left on device") {
			t.Errorf("%s: exit code %d, %s", command, code, stderr.String())
		}
	}
}
