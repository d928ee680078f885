package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"go.yaml.in/yaml/v3"
)

// preCommitHook is a hook in .pre-commit-hooks.yaml, with those of pre-commit's fields that it uses.
type preCommitHook struct {
	ID            string `yaml:"id"`
	Name          string `yaml:"name"`
	Description   string `yaml:"description"`
	Entry         string `yaml:"entry"`
	Language      string `yaml:"language"`
	PassFilenames *bool  `yaml:"pass_filenames"` // nil means true
	AlwaysRun     bool   `yaml:"always_run"`
}

// readPreCommitHook reads the one hook of this repository.
func readPreCommitHook() (hook preCommitHook, err error) {
	text, err := os.ReadFile("../../.pre-commit-hooks.yaml")
	if err != nil {
		return hook, err
	}
	var hooks []preCommitHook
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(&hooks); err != nil {
		return hook, err
	}
	if err := decoder.Decode(new(any)); !errors.Is(err, io.EOF) {
		return hook, fmt.Errorf("a second document: %w", err)
	}
	if len(hooks) != 1 {
		return hook, fmt.Errorf("%d hooks, want 1", len(hooks))
	}
	return hooks[0], nil
}

// pre-commit installs the programs of this repository with go install, and runs the entry.
func TestPreCommitHook(t *testing.T) {
	hook, err := readPreCommitHook()
	if err != nil {
		t.Fatal(err)
	}
	if hook.ID != "reviewgate" || hook.Name == "" || hook.Description == "" {
		t.Errorf("id %q, name %q, description %q", hook.ID, hook.Name, hook.Description)
	}
	if hook.Language != "golang" || hook.PassFilenames == nil || *hook.PassFilenames || !hook.AlwaysRun {
		t.Errorf("language %q, pass_filenames %v, always_run %v", hook.Language, hook.PassFilenames, hook.AlwaysRun)
	}
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Fields(hook.Entry)
	if words[0] != filepath.Base(dir) {
		t.Errorf("the entry runs %q, and this directory installs %q", words[0], filepath.Base(dir))
	}
	root := rootCommand()
	c, flags, err := root.Find(words[1:])
	if err != nil || c.Name() != "review" {
		t.Fatalf("the entry %q runs %v, %v", hook.Entry, c, err)
	}
	if err := c.ParseFlags(flags); err != nil {
		t.Error(err)
	}
}

// installHook makes the entry of .pre-commit-hooks.yaml the pre-commit hook of the repository in
// the current directory.
func installHook(ts *testscript.TestScript, _ bool, _ []string) {
	hook, err := readPreCommitHook()
	if err == nil {
		err = os.MkdirAll(ts.MkAbs(".git/hooks"), 0o755)
	}
	if err == nil {
		err = os.WriteFile(ts.MkAbs(".git/hooks/pre-commit"), []byte("#!/bin/sh\nexec "+hook.Entry+"\n"), 0o755)
	}
	ts.Check(err)
}
