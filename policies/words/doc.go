// Package words compares titles of findings by their significant words. It is the one measure of
// whether two titles are about the same subject.
package words
