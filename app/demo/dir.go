package demo

import (
	"os"
	"path/filepath"
	"time"
)

const (
	dirPrefix = "reviewgate-demo-"
	lockName  = "demo.lock"
	// lockGrace is how old a lock is before it says that its demo has ended: a demo that starts makes
	// the file a moment before it locks it.
	lockGrace = time.Minute
)

// makeDir makes a directory for a demo, and locks it until unlock or until the process ends in any way.
func makeDir(parent string) (dir string, unlock func(), err error) {
	if dir, err = os.MkdirTemp(parent, dirPrefix); err != nil {
		return "", nil, err
	}
	if unlock, err = lock(filepath.Join(dir, lockName), os.O_CREATE|os.O_EXCL); err != nil {
		os.RemoveAll(dir)
		return "", nil, err
	}
	return dir, unlock, nil
}

// removeStale removes the directories of demos that could not remove them, because they were killed.
// What it can't remove stays, such as another user's.
func removeStale(parent string) {
	dirs, _ := filepath.Glob(filepath.Join(parent, dirPrefix+"*")) // the pattern has the right form
	for _, dir := range dirs {
		if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
			continue
		}
		name := filepath.Join(dir, lockName)
		info, err := os.Lstat(name)
		if err != nil || !info.Mode().IsRegular() || time.Since(info.ModTime()) < lockGrace {
			continue
		}
		if unlock, err := lock(name, 0); err == nil {
			os.RemoveAll(dir)
			unlock()
		}
	}
}
