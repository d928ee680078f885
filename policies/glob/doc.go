// Package glob matches many paths against many patterns.
//
// Patterns have doublestar's syntax. * and ? stay within a path segment. ** stands alone in a
// segment and matches any number of segments. [a-z] and [!a-z] are classes, {a,b} are alternatives,
// and a backslash escapes the next character. Matching is case-sensitive and covers the whole path.
//
// Patterns come from repositories, so [Validate] is strict. It refuses patterns that doublestar
// accepts but that no path can match, and limits what would make matching slow. [Compile] sorts the
// common shapes (a file, a directory, a name, an extension) into tables, so that the cost of a path
// hardly depends on the number of patterns. Other patterns go to doublestar, but only if the path
// has their literal parts.
package glob
