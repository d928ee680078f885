// Package jsontree parses untrusted JSON into a tree whose values know their position in the text.
//
// It is stricter than encoding/json. A key that occurs twice in an object, text that is not UTF-8,
// a number that would take a million digits to write out, and anything after the first value are
// errors. Depth and number of values are bounded, so that a small text cannot grow into a large
// tree. The bounds of [Parse] are those of config. [Options] can read longer texts, element by
// element where a list is long.
//
// If a syntax error leaves no doubt about what was meant, it is reported, and the tree is that of
// the corrected text. The author then sees all errors at once.
//
// [ParseYAML] and [ParseJSONC] read the same trees from YAML and from JSON with comments.
//
// A tree may combine values of several texts. Each value still points to its own text, so a problem
// that is found after layers are merged can be shown where somebody wrote it.
package jsontree
