// Package agentoutput reads what agents answer, from outside: one envelope of
// findings or a list of them.
//
// A wrong envelope is an error, and nothing of its text counts. A wrong finding
// is dropped and counted, with the reason and its place, and the others stand.
// Fields that nobody knows are left out and counted. A field that may be left
// out may be null as well.
//
// Findings are read one by one, so that memory holds the text and what is kept
// of it, and no tree of all of it: see [MaxBytes] and [MaxFindings] for the
// bounds.
package agentoutput
