package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var (
	exampleFile    = regexp.MustCompile("(?ms)^```json ([a-z./]+\\.json)\n(.*?)^```$")
	exampleCommand = regexp.MustCompile(`(?m)^reviewgate (.*?) +# exit code ([0-3])$`)
	exampleReview  = regexp.MustCompile("(?ms)^```text\n(✋.*?)^```$")
	exampleAnswer  = regexp.MustCompile("(?ms)^  ```text\n(.*?)^  ```$")
)

// The examples in docs/commands.md are true: the test writes their files, runs their commands,
// and compares the exit codes.
func TestExamplesOfTheCommandsPage(t *testing.T) {
	page, err := os.ReadFile(filepath.FromSlash("../../docs/commands.md"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	for _, m := range exampleFile.FindAllStringSubmatch(string(page), -1) {
		if err := os.MkdirAll(filepath.Dir(m[1]), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(m[1], []byte(m[2]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	commands := exampleCommand.FindAllStringSubmatch(string(page), -1)
	if len(commands) < 5 {
		t.Fatalf("the page has %d commands", len(commands))
	}
	headless := ""
	for _, m := range commands {
		command, input, _ := strings.Cut(m[1], " < ")
		var text []byte
		if input != "" {
			if text, err = os.ReadFile(input); err != nil {
				t.Fatal(err)
			}
		}
		var stdout, stderr bytes.Buffer
		code := execute(t.Context(), strings.Fields(command), bytes.NewReader(text), &stdout, &stderr)
		if fmt.Sprint(code) != m[2] || stdout.Len() == 0 || stderr.Len() > 0 {
			t.Errorf("%s: exit code %d, want %s; %s", m[1], code, m[2], stderr.String())
		}
		if strings.Contains(command, "headless") {
			headless = stdout.String()
		}
	}
	want := strings.ReplaceAll(exampleAnswer.FindStringSubmatch(string(page))[1], "\n  ", "\n")
	if want = strings.TrimPrefix(want, "  "); headless != want {
		t.Errorf("the page shows\n%s\nthe command printed\n%s", want, headless)
	}
}

// The review that docs/commands.md shows is what the command prints, but for the commit and the time.
func TestReviewOfTheCommandsPage(t *testing.T) {
	page, err := os.ReadFile(filepath.FromSlash("../../docs/commands.md"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	t.Setenv("COLUMNS", "90")
	git := func(args ...string) {
		t.Helper()
		args = append([]string{"-c", "user.name=mira", "-c", "user.email=mira@example.com", "-c", "core.autocrlf=false"}, args...)
		if out, err := exec.CommandContext(t.Context(), "git", args...).CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v: %s", args, err, out)
		}
	}
	git("init", "-q", "-b", "main")
	write(t, filepath.FromSlash("api/orders.go"), "package api\n")
	write(t, filepath.FromSlash("jobs/run.py"), "import os\n")
	git("add", ".")
	git("commit", "-q", "-m", "Start")
	git("checkout", "-q", "-b", "my-branch")
	write(t, filepath.FromSlash("api/orders.go"), `package api

import "database/sql"

// Find finds the orders of a customer.
func Find(db *sql.DB, customer string) (*sql.Rows, error) {
	return db.Query("SELECT id FROM orders WHERE customer = '" + customer + "'")
}
`)
	write(t, filepath.FromSlash("jobs/run.py"), "import os\n\n\ndef run(job):\n    try:\n        job.start()\n    except:\n        job.retry()\n")
	git("commit", "-q", "-a", "-m", "feat: find orders by customer")
	var stdout, stderr bytes.Buffer
	if code := execute(t.Context(), strings.Fields("review --base main --head my-branch"), strings.NewReader(""), &stdout, &stderr); code != exitBlocked || stderr.Len() > 0 {
		t.Fatalf("exit code %d: %s", code, stderr.String())
	}
	varies := regexp.MustCompile(`[0-9a-f]{7} against main · [0-9.]+ s`)
	shown := exampleReview.FindStringSubmatch(string(page))
	if shown == nil {
		t.Fatal("the page shows no review")
	}
	if diff := cmp.Diff(varies.ReplaceAllString(shown[1], "…"), varies.ReplaceAllString(stdout.String(), "…")); diff != "" {
		t.Errorf("the page differs from what the command printed (-page +printed):\n%s", diff)
	}
}
