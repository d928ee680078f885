//go:build !race

package reviewreport

// raceDetector tells whether it watches this run: pools of buffers are then
// emptied at random, so that what is allocated says nothing.
const raceDetector = false
