// Package run calls the six stages in order.
//
// [Runner.Run] is the whole pipeline on one screen. It times each stage, and
// turns a stage that fails or panics into a report that says which one failed:
// never into a pass.
package run
