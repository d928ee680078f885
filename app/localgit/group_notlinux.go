//go:build unix && !linux

package localgit

import "syscall"

// endWithParent does nothing: not every system can end a child with its parent.
func endWithParent(*syscall.SysProcAttr) {}
