// Package analytics counts what became of findings: how often rules, agents and models were right,
// how long fixes took, what they cost, and what might be changed because of it.
//
// [Summarise] reads the logs of pull requests, one at a time, and keeps only counts. [Text],
// [Markdown], [CSV] and JSON are forms of the [Summary]. [Log] and [Seed3] write reviews one by one
// instead.
//
// # What counts
//
// A finding belongs to the time at which a review had it first, and a review to its own. A finding
// that no review showed, or that is no longer shown, is only counted as unshown.
//
// Precision is about judged pull requests. A rule has one judgement in a pull request, however many
// findings it has there: wrong if a person dismissed one of them as a false positive, else right if
// one was fixed or accepted. Nothing else is a judgement. The same holds for an agent, a model, and
// whatever else has a row. Blocking and other findings are apart: people must fix the ones, and
// seldom dismiss the others. A precision with few judgements is hidden.
//
// People are never counted one by one. What is on probation, and how many people said so, comes from the
// server, which looks for it in package probation.
package analytics
