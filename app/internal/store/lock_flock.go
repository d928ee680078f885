//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package store

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// lockFile keeps other processes away from the database while this one lives. When the
// process ends in any way, the kernel drops the lock. The lock is on a file of its
// own: closing any descriptor of the database file would drop SQLite's own locks.
func lockFile(path string) (unlock func() error, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = errors.New("another reviewgate uses it; stop that one first, or give this one another file")
		} else {
			err = fmt.Errorf("lock %s: %w", path, err)
		}
		return nil, errors.Join(err, f.Close())
	}
	// Closing alone is not enough: a child process that is just being started may still
	// have the descriptor.
	return func() error { return errors.Join(syscall.Flock(int(f.Fd()), syscall.LOCK_UN), f.Close()) }, nil
}
