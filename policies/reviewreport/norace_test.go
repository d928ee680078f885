//go:build !race

package reviewreport

// raceDetector reports whether the race detector is on. It empties pools of buffers at random, so
// measurements of memory mean nothing then.
const raceDetector = false
