//go:build !linux

package localgit

// limitMemory does nothing: only Linux can bound another process's memory.
func limitMemory(int, int64) error { return nil }
