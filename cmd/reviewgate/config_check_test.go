package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A directory's name can't add lines or control sequences to what config check and config test print.
func TestNamesInConfigMessagesStayOnOneLine(t *testing.T) {
	hostile := "shop\nok\x1b[2K's"
	for name, test := range map[string]struct {
		files   map[string]string
		command string
		code    int
		lines   int
	}{
		"missing":         {command: "check", code: exitUnusable, lines: 1},
		"without files":   {files: map[string]string{"README.md": ""}, command: "check", lines: 1},
		"valid":           {files: map[string]string{"review-settings.json": "{}"}, command: "check", lines: 1},
		"with tests":      {files: map[string]string{"review-settings.json": "{}", "tests/a.json": `{"name": "text", "change": {"title": "Say it", "files": {"a.md": {"head": ["a"]}}}, "expect": {"decision": "pass"}}`}, command: "check", lines: 2},
		"without tests":   {files: map[string]string{"review-settings.json": "{}"}, command: "test", code: exitUnusable, lines: 1},
		"bad tests":       {files: map[string]string{"review-settings.json": "{}", "tests/a.yaml": ""}, command: "check", code: exitUnusable, lines: 1},
		"mistake":         {files: map[string]string{"review-settings.json": "[]"}, command: "check", code: exitUnusable, lines: 2},
		"a repository":    {files: map[string]string{".github/reviewgate/review-settings.json": "{}"}, command: "check", lines: 2},
		"an unclear file": {files: map[string]string{"review-settings.json/x": ""}, command: "check", code: exitUnusable, lines: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			for file, text := range test.files {
				file = filepath.Join(hostile, filepath.FromSlash(file))
				if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
					t.Fatal(err)
				}
				write(t, file, text)
			}
			var out bytes.Buffer
			if code := execute(t.Context(), []string{"config", test.command, hostile}, nil, &out, &out); code != test.code {
				t.Errorf("exit code %d, want %d", code, test.code)
			}
			if lines := strings.Count(out.String(), "\n"); lines != test.lines || strings.Contains(out.String(), "\x1b") {
				t.Errorf("want %d lines and no control sequence, got %q", test.lines, out.String())
			}
		})
	}
}

// The command that config check names can be pasted into a shell.
func TestQuoted(t *testing.T) {
	for name, want := range map[string]string{
		".github/reviewgate": `.github/reviewgate`,
		"our shop's":         `'our shop'\''s'`,
		"our\nshop's \\":     `$'our\nshop\'s \\'`,
	} {
		if got := quoted(name); got != want {
			t.Errorf("quoted(%q) = %s, want %s", name, got, want)
		}
	}
}
