//go:build !linux

package app

// Yield does nothing: the other systems share no call for it.
func Yield() {}
