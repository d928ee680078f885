package unshown

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/raw"
)

// read reads one file with a new Reader.
func read(t *testing.T, path string, c Content) (raw.ChangedFile, []pipeline.Incompleteness) {
	t.Helper()
	var r Reader
	f := raw.ChangedFile{Path: path, Binary: true}
	if err := r.Read(&f, c); err != nil {
		t.Fatal(err)
	}
	if !f.LookedInto {
		t.Errorf("%s: the file was not marked as read", path)
	}
	return f, r.Incomplete
}

func TestRead(t *testing.T) {
	noise := strings.Repeat("\x00\x01\x9f\xfe\x80\x93", 300)
	was := func(text string) func() ([]byte, error) {
		return func() ([]byte, error) { return []byte(text), nil }
	}
	for name, tt := range map[string]struct {
		path    string
		content Content
		patch   string
		says    string // why it is incomplete
		gates   bool
	}{
		"text":                  {"run.sh", Content{Head: []byte("#!/bin/sh\necho # \x00\n")}, "@@ -0,0 +1,2 @@\n+#!/bin/sh\n+echo # ", "", false},
		"text that changed":     {"run.sh", Content{Head: []byte("a\nc\n"), Before: was("a\nb\n")}, "@@ -1,2 +1,2 @@\n a\n-b\n+c", "", false},
		"was not text":          {"run.sh", Content{Head: []byte("a\n"), Before: was(noise)}, "@@ -0,0 +1,1 @@\n+a", "", false},
		"nothing is left":       {"run.sh", Content{Before: was("a\n")}, "@@ -1,1 +0,0 @@\n-a", "", false},
		"a picture":             {"a.png", Content{Head: []byte("\x89PNG\r\n\x1a\n" + noise)}, "", "", false},
		"an executable picture": {"a.png", Content{Head: []byte("\x89PNG\r\n\x1a\n" + noise), Executable: true}, "", "neither text nor a known binary format", true},
		"unknown bytes":         {"data.bin", Content{Head: []byte(noise)}, "", "neither text nor a known binary format", false},
		"a long text":           {"a.txt", Content{Head: bytes.Repeat([]byte("a"), MaxContent+1)}, "", "larger than 8 MB", true},
		"was a long text":       {"a.txt", Content{Head: []byte("a\n"), Before: was(strings.Repeat("a\n", MaxContent/2+1))}, "", "was larger than 8 MB", true},
		"very many lines":       {"a.txt", Content{Head: []byte("a\n"), Before: was(strings.Repeat("\n", maxLines+1))}, "", "more than 1000000 lines", true},
	} {
		f, incomplete := read(t, tt.path, tt.content)
		if !strings.HasPrefix(f.Patch, tt.patch) || (f.Patch == "") != (tt.patch == "") || f.Binary != (tt.patch == "") {
			t.Errorf("%s: binary %t, patch %q", name, f.Binary, f.Patch)
		}
		if (tt.says == "") != (len(incomplete) == 0) {
			t.Errorf("%s: incomplete %+v", name, incomplete)
		}
		for _, i := range incomplete {
			if i.Path != tt.path || i.Gating != tt.gates || !strings.Contains(i.Why, tt.says) {
				t.Errorf("%s: incomplete %+v", name, i)
			}
		}
	}
}

// Content that can't be read is an error, and not empty content.
func TestReadBeforeFails(t *testing.T) {
	var r Reader
	broken := errors.New("broken")
	err := r.Read(&raw.ChangedFile{Path: "run.sh"}, Content{Head: []byte("a\n"), Before: func() ([]byte, error) { return nil, broken }})
	if !errors.Is(err, broken) {
		t.Error(err)
	}
}

// The searched text and the stored diffs have one limit for all files of a change. Each file
// beyond the limit is named.
func TestReadIsLimited(t *testing.T) {
	for says, r := range map[string]Reader{
		"":                                {searched: maxSearched - 2, patches: maxPatches},
		"diffs come to more than 32 MB":   {patches: maxPatches + 1},
		"lines come to more than 64 MB, ": {searched: maxSearched - 1},
	} {
		f := raw.ChangedFile{Path: "a.txt", Binary: true}
		if err := r.Read(&f, Content{Head: []byte("a\n")}); err != nil {
			t.Fatal(err)
		}
		if (f.Patch != "") != (says == "") || len(r.Incomplete) > 1 || says != "" && (!r.Incomplete[0].Gating || !strings.Contains(r.Incomplete[0].Why, says)) {
			t.Errorf("%q: patch %q, incomplete %+v", says, f.Patch, r.Incomplete)
		}
	}
}
