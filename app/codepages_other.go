//go:build !linux

package app

// releaseCode does nothing: it is implemented only on Linux.
func releaseCode() {}
