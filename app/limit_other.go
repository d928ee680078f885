//go:build !linux || race

package app

// limitMemory does nothing. On this system a process can't bound its own memory, or the race
// detector reserves far more memory than any limit. Only Go's soft limit applies.
func limitMemory(int64) error { return nil }
