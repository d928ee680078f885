//go:build !linux

package app

// memoryLimit returns no limit: it is not known on this system.
func memoryLimit() MemoryLimit { return MemoryLimit{} }
