// Package comments tells which parts of a line are a comment, by the syntax of the line's own
// language.
//
// The author of a change chooses the form of the code. So the package answers two questions, each
// with errors on the safe side. A [Reader] tells which start of a line is certainly a comment,
// where findings may be left out. [Bare] removes everything that may be a comment, and only the
// rest may excuse a finding.
//
// A hunk may start in the middle of a string, a template, a block comment or markup, and nobody
// knows in which. So a line counts as a comment only if it could run no code in any of them: it
// contains nothing that ends a string or a tag, and nothing that puts code into one. A language
// that the package does not know has no comments.
package comments
