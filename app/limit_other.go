//go:build !linux || race

package app

// limitMemory does nothing: the process can't bound its own memory here, or the race
// detector reserves far more than any limit. Only the soft limit holds.
func limitMemory(int64) error { return nil }
