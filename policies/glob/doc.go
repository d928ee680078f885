// Package glob matches many paths against many patterns.
//
// Patterns are doublestar's: * and ? stay within a path segment, ** stands
// alone in a segment and covers any number of them, [a-z] and [!a-z] are
// classes, {a,b} are alternatives, and a backslash takes the meaning from the
// character after it. Matching is case-sensitive and covers the whole path.
//
// Patterns come from repositories, so [Validate] is strict: it refuses what
// doublestar accepts and no path could ever match, and bounds what would make
// matching slow. [Compile] sorts the common shapes (a file, a directory, a
// name, an extension) into tables, so that the cost of a path hardly depends
// on the number of patterns; what remains goes to doublestar behind a check of
// its literal parts.
package glob
