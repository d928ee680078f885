// Package normalize is the first stage. It turns what a [Source] reads into facts, which nothing
// changes afterwards.
//
// It compares what the source returns with the source's own counts. A list that is shorter than
// the count becomes an incompleteness. So does a patch that is missing, can't be parsed, or holds
// fewer lines than the file's counts. The gate decides what that means; this package never hides
// it.
package normalize
