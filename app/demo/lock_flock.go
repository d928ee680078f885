//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package demo

import (
	"errors"
	"os"
	"syscall"
)

// lock locks a file, or returns an error if another process has locked it.
func lock(name string, flags int) (unlock func(), err error) {
	f, err := os.OpenFile(name, os.O_RDWR|syscall.O_NOFOLLOW|flags, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() { f.Close() }, nil
}
