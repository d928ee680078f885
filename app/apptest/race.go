//go:build race

package apptest

// raceDetector tells whether the race detector watches this run. No limit holds the memory of
// a child process then, so a process that would use all of it is killed instead.
const raceDetector = true
