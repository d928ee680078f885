// Package jsontree parses JSON that was written by people nobody vouches for
// into a tree whose values know where they stand in the text.
//
// It is stricter than encoding/json: a key that occurs twice in an object, text
// that is not UTF-8, a number that would take a million digits to write out,
// and anything after the first value are errors. Depth and number of values are
// bounded, so that a small text cannot grow into a large tree. The bounds of
// [Parse] are those of config; [Options] read longer texts, element by element
// where a list is long.
//
// A fault of the syntax of which there is no doubt what was meant is an error,
// and the tree is that of the text without it: whoever wrote it learns of all
// faults at once.
//
// A tree may be put together from values of several texts: each value keeps
// pointing into the text it came from, so that a problem found after layers
// were merged can still be shown where somebody wrote it.
package jsontree
