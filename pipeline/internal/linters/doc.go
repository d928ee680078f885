// Package linters reads how code asks linters to be silent about a line: //nolint, # noqa,
// eslint-disable and so on.
//
// A change shows hunks, so only the lines of one hunk count: a comment that the hunk does not show
// is not read. A comment counts only where it certainly is one, by the syntax of the file's
// language, and not inside a string. Whether to obey it is up to the caller, for whom
// [Suppression.Old] says whether it was there before the change.
package linters
