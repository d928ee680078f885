// Package dispatch is the fifth stage: it runs the agents of a manifest side
// by side and brings back a result for each, whatever happens to any of them.
package dispatch
