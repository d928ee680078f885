// Package render makes every text that a person reads: the comment, the check
// run, the terminal's text, and the formats that other programs read (JSON,
// SARIF).
//
// All wording is in one file, wording.tmpl. Go code decides what is said and
// what fits; the templates say how it is said.
//
// # Untrusted text
//
// Titles, paths, branch names, code, agents' messages and config come from
// people whom reviewgate does not know. They reach a template only as [safe]
// strings, which a pen makes: the markdown pen breaks mentions, references,
// links, markup and HTML; the terminal pen lets no control sequence through.
// What GitHub acts on after markdown is rendered (mentions, references, short
// codes) is broken by a zero-width space, and what that does not stop (URLs,
// commits, formulas) stands in code spans.
// Both pens make what a reader cannot see (control characters, bidirectional
// overrides, zero-width characters) visible as U+202E and the like. The types
// that templates see hold no plain strings, and a test keeps it so.
//
// # Fitting
//
// GitHub refuses a comment of more than 65,536 characters. Sections that list
// things have a share of that each; findings get what is left, worst first,
// and what is left out is counted. See [fit].
//
// # Other tools
//
// The comment ends with the machine-readable section of review reports, made by
// policies/reviewreport, which reads it back. It has recommendations as far as
// there is room, and is whole however little that is.
//
// # Digests
//
// What varies from run to run (its id, its times, links to its page) is laid out
// as marks of fixed length and put in at the end. The digest is that of the text
// with the marks, so it changes if and only if something else does.
package render
