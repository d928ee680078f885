// Package check tests the files of deploy/ with the parsers of the programs that
// read them, offline: go test ./... in this directory.
package check
