//go:build !unix

package localgit

import "os/exec"

// endTogether does nothing: there are no groups of processes as on Unix.
func endTogether(*exec.Cmd) {}
