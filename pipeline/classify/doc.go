// Package classify is the second stage: what the files and words of a change
// say about it. It is pure, and linear in the number of files: the config's
// globs are compiled once, by [New].
package classify
