// Package run calls the six stages in order.
//
// [Runner.Run] is the whole pipeline on one screen. It times each stage, and turns a stage that
// fails or panics into a report that names the stage and never passes.
package run
