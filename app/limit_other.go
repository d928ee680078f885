//go:build !linux || race

package app

// limitMemory does nothing where a process can't bound its own memory, and under the
// race detector, which reserves far more than any limit: the soft limit holds alone.
func limitMemory(int64) error { return nil }
