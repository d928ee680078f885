//go:build unix && !linux

package localgit

import "syscall"

// endWithParent does nothing: not every system can.
func endWithParent(*syscall.SysProcAttr) {}
