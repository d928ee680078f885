package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
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
		"aggregate -", "aggregate --format markdown -", "demo --once",
	} {
		var stderr bytes.Buffer
		code := execute(t.Context(), strings.Fields(command), strings.NewReader("[]"), fullDisk{}, &stderr)
		if code != exitUnfinished || !strings.Contains(stderr.String(), "write the answer: no space left on device") {
			t.Errorf("%s: exit code %d, %s", command, code, stderr.String())
		}
	}
}

// So does a backup.
func TestBackupThatCannotBeReported(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("REVIEWGATE_DATABASE_URL", "sqlite://demo.db")
	var stderr bytes.Buffer
	if code := execute(t.Context(), []string{"demo", "--once", "--database", "demo.db"}, nil, io.Discard, &stderr); code != exitGood {
		t.Fatalf("exit code %d, %s", code, stderr.String())
	}
	if code := execute(t.Context(), []string{"backup", "copy.db"}, nil, fullDisk{}, &stderr); code != exitUnfinished || !strings.Contains(stderr.String(), "write the answer: no space left on device") {
		t.Errorf("exit code %d, %s", code, stderr.String())
	}
}

// So does a review.
func TestReviewThatCannotBeWritten(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, args := range [][]string{{"init", "--quiet"}, {"-c", "user.name=mira", "-c", "user.email=mira@example.com", "commit", "--quiet", "--allow-empty", "--message=Start"}} {
		if out, err := exec.CommandContext(t.Context(), "git", args...).CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v: %s", args, err, out)
		}
	}
	for _, format := range formatNames() {
		var stderr bytes.Buffer
		code := execute(t.Context(), []string{"review", "--base", "HEAD", "--format", format}, nil, fullDisk{}, &stderr)
		if code != exitUnfinished || !strings.Contains(stderr.String(), "write the review: no space left on device") {
			t.Errorf("%s: exit code %d, %s", format, code, stderr.String())
		}
	}
}

// docs/commands.md lists every format of a review, in the order of the help, with what reads it.
func TestCommandsPageListsTheFormats(t *testing.T) {
	page, err := os.ReadFile(filepath.FromSlash("../../docs/commands.md"))
	if err != nil {
		t.Fatal(err)
	}
	table := "| format | read by |\n|---|---|\n"
	for _, f := range reviewFormats {
		table += "| `" + f.name + "` | " + f.readBy + " |\n"
	}
	if !strings.Contains(string(page), "\n"+table+"\n") {
		t.Errorf("docs/commands.md lacks the table of the formats:\n%s", table)
	}
}

// The format is the one that is asked for, and otherwise the one that the place calls for.
func TestFormatThatIsChosen(t *testing.T) {
	for _, c := range []struct{ actions, format, output, want string }{
		{"", "", "", "text"}, {"true", "", "", "github"}, {"true", "", "review.txt", "text"},
		{"true", "json", "", "json"}, {"false", "", "", "text"}, {"", "github", "", "github"},
	} {
		t.Setenv("GITHUB_ACTIONS", c.actions)
		f := outputFlags{format: c.format, output: c.output}
		if err := f.check(); err != nil || f.chosen().name != c.want {
			t.Errorf("%+v: %s, %v", c, f.format, err)
		}
	}
}

// Colours are for terminals. The environment can force them or switch them off.
func TestColored(t *testing.T) {
	for _, tt := range []struct {
		env  map[string]string
		want bool
	}{
		{nil, false}, // a buffer is not a terminal
		{map[string]string{"FORCE_COLOR": "1"}, true},
		{map[string]string{"CLICOLOR_FORCE": "1"}, true},
		{map[string]string{"FORCE_COLOR": "0"}, false},
		{map[string]string{"CLICOLOR_FORCE": "0"}, false},
		{map[string]string{"NO_COLOR": "1", "FORCE_COLOR": "1", "CLICOLOR_FORCE": "1"}, false},
		{map[string]string{"FORCE_COLOR": "1", "TERM": "dumb"}, true},
	} {
		if got := colored(new(bytes.Buffer), func(name string) string { return tt.env[name] }); got != tt.want {
			t.Errorf("%v: %v", tt.env, got)
		}
	}
}

// Without a terminal, COLUMNS is the width, within bounds.
func TestWidth(t *testing.T) {
	for columns, want := range map[string]int{"": 100, "x": 100, "-1": 100, "0": 100, "80": 80, "20": 40, "300": 120} {
		t.Setenv("COLUMNS", columns)
		if got := textOptions(new(bytes.Buffer)).Width; got != want {
			t.Errorf("COLUMNS=%s: %d columns, want %d", columns, got, want)
		}
	}
}
