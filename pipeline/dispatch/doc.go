// Package dispatch is the fifth stage. It runs the agents of a manifest side by side and returns a
// result for each of them, also if an agent fails.
package dispatch
