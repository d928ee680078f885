// Package memory tells which findings the records of memory are about, and what models are told of
// the records ([NotesOn]). It is pure. What a record does to a finding is decided in the stage
// aggregate.
package memory
