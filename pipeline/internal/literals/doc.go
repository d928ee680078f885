// Package literals keeps regular expressions away from text that cannot match
// them: [Required] finds literals without which an expression has no match,
// and a [Matcher] or [Finder] looks for any number of them in one pass.
//
// Both ignore the case of ASCII letters, which can only let too much through.
// Outside ASCII two letters count as equal to k and s when an expression
// ignores case; they are in [Folds], and text that holds one of them has to
// be searched as [Unfold] spells it, or be shown to every expression.
package literals

import "strings"

// Folds are the letters outside ASCII that (?i) takes for k and s.
var Folds = [...]string{"\u212a", "\u017f"}

var unfolder = strings.NewReplacer(Folds[0], "k", Folds[1], "s")

// Unfold spells a text with k and s for the Folds.
func Unfold(text string) string { return unfolder.Replace(text) }

// HasFolds reports whether a text holds one of the Folds.
func HasFolds(text string) bool {
	return strings.Contains(text, Folds[0]) || strings.Contains(text, Folds[1])
}
