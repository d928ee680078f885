// Package literals keeps regular expressions away from text that cannot match
// them: [Required] finds literals without which an expression has no match,
// and a [Matcher] looks for any number of them in one pass.
//
// Both ignore the case of ASCII letters, which can only let too much through.
// Outside ASCII two letters count as equal to k and s when an expression
// ignores case; they are in [Folds], and text that holds one of them has to
// be shown to every expression.
package literals

// Folds are the letters outside ASCII that (?i) takes for k and s.
var Folds = [...]string{"\u212a", "\u017f"}
