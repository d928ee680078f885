package eval

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/reviewgate/reviewgate/pipeline"
)

// expectedFile is the form of Export's file for [ReadExpected].
type expectedFile struct {
	Cases []exportedCase `json:"cases"`
}

type exportedCase struct {
	Case    string           `json:"case"`
	Defects []exportedDefect `json:"defects"`
}

type exportedDefect struct {
	Path     string            `json:"path"`
	Lines    []int             `json:"lines"`
	Title    string            `json:"title"`
	Severity pipeline.Severity `json:"severity"`
	Category string            `json:"category"`
	Words    []string          `json:"words,omitempty"`
	Rules    []string          `json:"rules,omitempty"`
}

// ExpectedFile is the name of Export's file with the expected defects.
const ExpectedFile = "expected.json"

// Export writes each case to a directory as NAME.diff, a patch with the title and the
// description of the change. It writes the expected defects to ExpectedFile. Any tool can
// be measured with these files. Export creates the directory if necessary, and replaces
// existing files.
func Export(ctx context.Context, cases []Case, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make the directory: %w", err)
	}
	repository, err := os.MkdirTemp("", "reviewgate-eval-")
	if err != nil {
		return fmt.Errorf("make a directory for the cases: %w", err)
	}
	defer func() { _ = os.RemoveAll(repository) }() // the system cleans up temporary directories too
	if err := importCases(ctx, repository, cases); err != nil {
		return err
	}
	expected := expectedFile{Cases: []exportedCase{}}
	for i := range cases {
		c := &cases[i]
		diff, err := gitOutput(ctx, nil, "--git-dir="+filepath.Join(repository, ".git"), "diff", "--no-color", "--no-ext-diff", "--full-index",
			"--find-renames", "--src-prefix=a/", "--dst-prefix=b/", c.Name+"/base", c.Name+"/head", "--")
		if err != nil {
			return err
		}
		mail := fmt.Sprintf("From: Kim Doe <kim@example.com>\nSubject: %s\n\n%s\n---\n\n", c.Title, c.Body)
		if err := os.WriteFile(filepath.Join(dir, c.Name+".diff"), append([]byte(mail), diff...), 0o644); err != nil {
			return fmt.Errorf("write the diff: %w", err)
		}
		e := exportedCase{Case: c.Name, Defects: []exportedDefect{}}
		for _, d := range c.Defects {
			var lines []int
			for _, l := range d.Lines {
				lines = append(lines, l.First)
			}
			e.Defects = append(e.Defects, exportedDefect{d.Path, lines, d.What, d.Severity, d.Category, d.Words, d.Rules})
		}
		expected.Cases = append(expected.Cases, e)
	}
	text, err := JSON(expected)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, ExpectedFile), text, 0o644)
	}
	if err != nil {
		return fmt.Errorf("write what is expected: %w", err)
	}
	return nil
}

// JSON encodes a value for people: indented, and without HTML escapes in code.
func JSON(v any) ([]byte, error) {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(v)
	return text.Bytes(), err
}
