// Package dispatch is the fifth stage. It runs the agents of a manifest side by side and returns a
// result for each, whatever happens to any of them.
package dispatch
