// Package retention deletes what is stored and no longer needed: what has been kept for
// long enough, and what belongs to repositories that the App may no longer see.
package retention
