// Package classify is the second stage. It determines what the files and words of a change say
// about it. It is pure, and linear in the number of files: [New] compiles the config's globs once.
package classify
