//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package store

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// lockFile keeps other processes from the database for as long as this one
// lives: the kernel drops the lock with the process, however that ends. The
// lock is on a file of its own, since to close any descriptor of the database
// would drop SQLite's locks on it.
func lockFile(path string) (unlock func() error, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = errors.New("another reviewgate uses it; stop that one first, or give this one a file of its own")
		} else {
			err = fmt.Errorf("lock %s: %w", path, err)
		}
		return nil, errors.Join(err, f.Close())
	}
	// The lock outlives the close while another process, that is just being
	// started, still has the descriptor.
	return func() error { return errors.Join(syscall.Flock(int(f.Fd()), syscall.LOCK_UN), f.Close()) }, nil
}
