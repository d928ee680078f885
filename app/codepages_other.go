//go:build !linux

package app

// releaseCode does nothing: only Linux is asked.
func releaseCode() {}
