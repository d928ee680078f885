//go:build !unix

package localgit

import (
	"io/fs"
	"os/exec"
	"time"
)

// leftAfter is more than any fetch may take.
const leftAfter = time.Hour

// endTogether does nothing: there are no groups of processes as on Unix.
func endTogether(*exec.Cmd) {}

// lockDir locks nothing: directories can't be, and their age tells.
func lockDir(string) (unlock func(), err error) { return func() {}, nil }

// isLeft reports whether the directory is so old that it is nobody's any more.
func isLeft(_ string, info fs.FileInfo) bool { return time.Since(info.ModTime()) > leftAfter }
