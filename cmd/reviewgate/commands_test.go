package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	exampleFile    = regexp.MustCompile("(?ms)^```json ([a-z./]+\\.json)\n(.*?)^```$")
	exampleCommand = regexp.MustCompile(`(?m)^reviewgate (.*?) +# exit code ([0-3])$`)
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
