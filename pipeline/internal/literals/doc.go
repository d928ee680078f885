// Package literals avoids running regular expressions on text that can't match. [Required] finds
// literals without which an expression has no match, and a [Matcher] or [Finder] looks for any
// number of them in one pass.
//
// Both ignore the case of ASCII letters, which can only let too much through. Two letters outside
// ASCII count as equal to k and s when an expression ignores case. They are in [Folds], and text
// with one of them must be searched in the form that [Unfold] returns, or be matched against every
// expression.
package literals

import "strings"

// Folds are the letters outside ASCII that (?i) equates with k and s.
var Folds = [...]string{"\u212a", "\u017f"}

var unfolder = strings.NewReplacer(Folds[0], "k", Folds[1], "s")

// Unfold replaces the Folds by k and s.
func Unfold(text string) string { return unfolder.Replace(text) }

// HasFolds reports whether a text contains one of the Folds.
func HasFolds(text string) bool {
	return strings.Contains(text, Folds[0]) || strings.Contains(text, Folds[1])
}
