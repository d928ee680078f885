package localgit

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

const (
	// fetchDir is what directories to fetch into are called, up to the star, and
	// freshDir what they are called until they are locked.
	fetchDir = "reviewgate-fetch-*"
	freshDir = "reviewgate-new-*"
)

// scratch makes a directory to fetch into, for this user alone, and returns what
// deletes it. What killed processes left is deleted before.
func scratch() (dir string, drop func() error, err error) {
	RemoveLeft()
	fresh, err := os.MkdirTemp("", freshDir)
	if err != nil {
		return "", nil, fmt.Errorf("make a directory to fetch into: %w", err)
	}
	unlock, err := lockDir(fresh)
	if err == nil {
		// Under this name others look whether it is locked.
		dir = filepath.Join(filepath.Dir(fresh), fetchDir[:len(fetchDir)-1]+filepath.Base(fresh)[len(freshDir)-1:])
		if err = os.Rename(fresh, dir); err != nil {
			unlock()
		}
	}
	if err != nil {
		return "", nil, errors.Join(fmt.Errorf("make a directory to fetch into: %w", err), os.Remove(fresh))
	}
	return dir, func() error { defer unlock(); return remove(dir) }, nil
}

// remove deletes the directory. What git started may still write for a moment.
func remove(dir string) error {
	var err error
	for range 5 {
		if err = os.RemoveAll(dir); err == nil {
			return nil
		}
		time.Sleep(fetchWatch)
	}
	return fmt.Errorf("delete what was fetched: %w", err)
}

// RemoveLeft deletes what processes that were killed fetched. What it can't
// delete is another user's.
func RemoveLeft() {
	dirs, _ := filepath.Glob(filepath.Join(os.TempDir(), fetchDir)) // the pattern is well-formed
	for _, dir := range dirs {
		if info, err := os.Lstat(dir); err == nil && info.IsDir() && isLeft(dir, info) {
			_ = os.RemoveAll(dir)
		}
	}
}
