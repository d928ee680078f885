package app

import (
	"bytes"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A loader may write into a program's pages before it protects them. Giving memory back keeps
// that text, and also all pages that were never written.
func TestReleaseKeepsWrittenPages(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "program")
	page := os.Getpagesize()
	if err := os.WriteFile(name, bytes.Repeat([]byte("file"), page/4), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, want := range []string{"file", "mine"} {
		m, err := syscall.Mmap(int(f.Fd()), 0, page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE)
		if err != nil {
			t.Fatal(err)
		}
		defer syscall.Munmap(m) //nolint:errcheck // the test is over
		if want != "file" {
			copy(m, want)
		}
		if err := syscall.Mprotect(m, syscall.PROT_READ); err != nil {
			t.Fatal(err)
		}
		releaseFile(name)
		if got := string(m[:4]); got != want {
			t.Errorf("the page holds %q, want %q", got, want)
		}
	}
}
