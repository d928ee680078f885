// Package comments tells which parts of a line are a comment, by the syntax of
// the line's own language.
//
// Whoever writes a change chooses its form, so the package answers two
// questions, each with the error on the safe side. A [Reader] says which start
// of a line is certainly a comment: a finding there may be left out. [Bare]
// takes away all that may be a comment: what is left may excuse a finding.
//
// A hunk may start in the middle of a string, of a template, of a block comment
// or of markup, and nobody knows in which. So a line counts as a comment only if
// it could run no code in any of them: it holds nothing that ends a string or a
// tag, and nothing that puts code into one. A language that the package does not
// know has no comments.
package comments
