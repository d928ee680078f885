// Package check tests the files of deploy/ with the parsers of the programs that
// read them, offline: make deploy.
package check
