package localgit

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

const (
	// fetchDir is the pattern for the names of directories to fetch into. freshDir is
	// the pattern for their names until they are locked.
	fetchDir = "reviewgate-fetch-*"
	freshDir = "reviewgate-new-*"
)

// scratch makes a directory to fetch into, which only this user can read. drop deletes
// it. Before that, scratch deletes the directories of killed processes.
func scratch() (dir string, drop func() error, err error) {
	RemoveLeft()
	fresh, err := os.MkdirTemp("", freshDir)
	if err != nil {
		return "", nil, fmt.Errorf("make a directory to fetch into: %w", err)
	}
	unlock, err := lockDir(fresh)
	if err == nil {
		// RemoveLeft checks the locks of directories with this name.
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

// remove deletes the directory. It tries several times, since git's child processes may
// still write for a moment.
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

// RemoveLeft deletes the directories that killed processes left. It ignores errors: the
// directories that it can't delete belong to other users.
func RemoveLeft() {
	dirs, _ := filepath.Glob(filepath.Join(os.TempDir(), fetchDir)) // the pattern is well-formed
	for _, dir := range dirs {
		if info, err := os.Lstat(dir); err == nil && info.IsDir() && isLeft(dir, info) {
			_ = os.RemoveAll(dir)
		}
	}
}
