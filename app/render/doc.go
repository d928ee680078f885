// Package render makes every text that a person reads: the comment, the check
// run, the terminal's text, and the formats that other programs read (JSON,
// SARIF, and those of CI servers and code hosts).
//
// All of this package's wording is in one file, wording.tmpl. The texts of findings, gaps and
// reasons come from the packages that make them. Go code decides what a text contains and what
// fits; the templates choose the words.
//
// # Untrusted text
//
// Titles, paths, branch names, code, agents' messages and config come from
// people whom reviewgate does not know. They reach a template only as [safe]
// strings, which a pen makes. The markdown pen breaks mentions, references, links,
// markup and HTML. The terminal pen lets no control sequence through.
//
// GitHub acts on mentions, references and short codes after it has rendered markdown:
// a zero-width space breaks them. It does not stop URLs, commits and formulas: they
// stand in code spans.
//
// Both pens make invisible characters (control characters, bidirectional overrides,
// zero-width characters) visible, for example as U+202E. The types that templates see hold no
// plain strings; a test enforces this.
//
// Text that a job of GitHub Actions may print can't command its runner: see [LogText].
//
// # Fitting
//
// GitHub refuses a comment of more than 65,536 characters. Each section with a list
// has a share of that. Findings get the rest, worst first. Each list counts the items
// that it leaves out. See [fit].
//
// # Other tools
//
// The comment ends with the machine-readable section of review reports.
// policies/reviewreport writes it and reads it back. It leaves out recommendations if
// there is no room for them, and nothing else.
//
// # Digests
//
// A run's id, times and links vary from run to run. Marks of fixed length stand for
// them until the end. The digest is of the text with the marks, so it changes only if
// something else changes.
package render
