//go:build !linux

package app

// limitMemory does nothing where a process can't bound its own memory: the soft
// limit holds alone.
func limitMemory(int64) error { return nil }
