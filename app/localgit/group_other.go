//go:build !unix

package localgit

import (
	"io/fs"
	"os/exec"
	"time"
)

// leftAfter is longer than any fetch may take.
const leftAfter = time.Hour

// endTogether does nothing: this system has no process groups as on Unix.
func endTogether(*exec.Cmd) {}

// lockDir locks nothing: directories can't be locked here, and isLeft uses their age.
func lockDir(string) (unlock func(), err error) { return func() {}, nil }

// isLeft reports whether the directory is so old that no process can be using it.
func isLeft(_ string, info fs.FileInfo) bool { return time.Since(info.ModTime()) > leftAfter }
