// Package normalize is the first stage: it turns what a [Source] reads into
// facts, which nothing changes after.
//
// What the source reports is compared with what it says of itself: a list
// that is shorter than the count, a patch that is missing or does not read,
// or holds fewer lines than the file's sums, becomes an incompleteness. The
// gate decides what that means; this package only never hides it.
package normalize
