//go:build !linux

package app

// yield does nothing: other systems have no call for it that all share.
func yield() {}
