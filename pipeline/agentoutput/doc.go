// Package agentoutput reads the answers of external agents: one envelope of findings, or a list of
// them.
//
// A wrong envelope is an error, and nothing in it counts. A wrong finding is dropped and counted,
// with the reason and its place, and the others stay. Unknown fields are ignored and counted. An
// optional field may also be null.
//
// Findings are read one by one, so that memory holds the text and what is kept of it, and no tree
// of the whole text. See [MaxBytes] and [MaxFindings] for the bounds.
package agentoutput
