//go:build !linux

package app

// memoryLimit is not known on this system.
func memoryLimit() MemoryLimit { return MemoryLimit{} }
