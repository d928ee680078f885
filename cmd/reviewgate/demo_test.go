package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// watched is an output that a test reads while it grows.
type watched struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (w *watched) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(p)
}

func (w *watched) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

// demo --open hands the page to the system's opener. If that fails, it warns, and the demo goes on.
func TestDemoOpensThePage(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Logf("xdg-open is Linux's; this is %s", runtime.GOOS)
		return
	}
	for name, c := range map[string]struct {
		script string
		ends   *regexp.Regexp // standard error and what the opener got
	}{
		"it fails":     {"#!/bin/sh\nexit 3\n", regexp.MustCompile(`^warning: the browser can't be opened \(exit status 3\); open http://127\.0\.0\.1:\d+/demo yourself\n$`)},
		"it is opened": {"#!/bin/sh\necho \"$1\" >\"$OPENED\"\n", regexp.MustCompile(`^http://127\.0\.0\.1:\d+/demo\n$`)},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "xdg-open"), []byte(c.script), 0o700); err != nil {
				t.Fatal(err)
			}
			opened := filepath.Join(dir, "opened")
			t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
			t.Setenv("OPENED", opened)
			ctx, end := context.WithTimeout(t.Context(), patience)
			defer end()
			var stdout, stderr watched
			code := make(chan int, 1)
			go func() { code <- execute(ctx, []string{"demo", "--open"}, strings.NewReader(""), &stdout, &stderr) }()
			got := ""
			for ctx.Err() == nil && !c.ends.MatchString(got) {
				time.Sleep(10 * time.Millisecond)
				url, _ := os.ReadFile(opened) // not there before the opener has run
				got = stderr.String() + string(url)
			}
			if ctx.Err() != nil {
				t.Errorf("the opener and standard error say %q", got)
			}
			end()
			if got := <-code; got != exitGood {
				t.Errorf("exit code %d", got)
			}
		})
	}
}

// A system may have no opener.
func TestBrowseWithoutAnOpener(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	var got error
	browse(t.Context(), "http://127.0.0.1:1/demo", func(err error) { got = err })
	if !errors.Is(got, exec.ErrNotFound) {
		t.Errorf("the error is %v", got)
	}
}
