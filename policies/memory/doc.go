// Package memory tells which findings the records of memory are about. It is pure. What a record does
// to a finding is decided in the stage aggregate.
package memory
