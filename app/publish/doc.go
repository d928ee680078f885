// Package publish writes the answer to a pull request: the check run of its head, the one
// comment, and what the settings ask for in addition (a review, requests for reviews,
// labels).
//
// # Actions without a person
//
// The result of the models' reviews may become a review on GitHub, for one head and one
// base. At most one such review is in force. It is submitted after the check and before the
// comment, which reports it. It is dismissed before another head is reviewed, and whenever
// a review ends with another result. It never loosens the gate: a change that the gate
// blocks is not approved.
package publish
