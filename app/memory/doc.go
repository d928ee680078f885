// Package memory is what reviewgate remembers of a repository: which findings of models people judged
// wrong there, and what keeps being found.
//
// A record comes only from a command of somebody whose permission GitHub confirms at that moment, or
// from the operator. No text of a pull request, a commit, a file or a model becomes one. What a record
// is about is taken from the finding that the command names. The reason that people write is shown,
// and never obeyed.
//
// [Keeper.Teach] decides what a dismissal teaches, [Keeper.Approve] whether a record may become
// active, and [Keeper.Snapshot] which records a review sees. [Tester] computes earlier reviews with a
// record, to find what it would have hidden. What a record does to a finding is decided in
// pipeline/aggregate, which keeps every blocking decision as it is.
package memory
