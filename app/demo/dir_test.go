//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package demo

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A demo removes the directories of demos that were killed, and no others.
func TestStaleDirectoriesAreRemoved(t *testing.T) {
	parent := t.TempDir()
	old := time.Now().Add(-time.Hour)
	aged := func(dir string) {
		t.Helper()
		if err := os.Chtimes(filepath.Join(dir, lockName), old, old); err != nil {
			t.Fatal(err)
		}
	}
	demo := func() (dir string, unlock func()) {
		t.Helper()
		dir, unlock, err := makeDir(parent)
		if err != nil {
			t.Fatal(err)
		}
		return dir, unlock
	}
	killed, unlock := demo()
	unlock() // as the kernel does
	aged(killed)
	young, unlock := demo()
	unlock()
	running, unlock := demo()
	defer unlock()
	aged(running)
	foreign := filepath.Join(parent, dirPrefix+"without-lock")
	other := filepath.Join(parent, "other")
	for _, dir := range []string{foreign, other} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(other, lockName), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	aged(other)
	link := filepath.Join(parent, dirPrefix+"link")
	if err := os.Symlink(other, link); err != nil {
		t.Fatal(err)
	}
	removeStale(parent)
	for dir, stays := range map[string]bool{killed: false, young: true, running: true, foreign: true, other: true, link: true} {
		if _, err := os.Lstat(dir); (err == nil) != stays {
			t.Errorf("%s: stays is %v, want %v", filepath.Base(dir), err == nil, stays)
		}
	}
}
