//go:build !race

package apptest

// raceDetector tells whether it watches this run: no limit holds the memory of a
// child process then, so one that would eat all of it is killed instead.
const raceDetector = false
