//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package demo

import (
	"errors"
	"os"
)

// lock makes the file of a new demo. On systems without flock it locks nothing, so the directories of
// killed demos stay.
func lock(_ string, flags int) (unlock func(), err error) {
	if flags&os.O_CREATE == 0 {
		return nil, errors.ErrUnsupported
	}
	return func() {}, nil
}
