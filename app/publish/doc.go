// Package publish writes the answer to a pull request: the check run of its head, the one
// comment, and what the settings ask for in addition (comments on lines, a review, requests
// for reviews, labels).
//
// # Comments on lines
//
// They are written before the check, because a finding that has one gets no annotation. All
// comments of a run go into one review on GitHub. Their intents are stored first, under the
// fingerprints of the findings. After a crash they are looked for by these fingerprints, which
// are in the markers, among the threads that GitHub says our App began. One later call edits
// the comments whose findings were fixed, dismissed, or are back. The same call learns the ids
// of what was added.
//
// # Actions without a person
//
// The result of the models' reviews may become a review on GitHub, for one head and one
// base. At most one such review is in force. It is submitted after the check and before the
// comment, which reports it. It is dismissed before another head is reviewed, and whenever
// a review ends with another result. It never loosens the gate: a change that the gate
// blocks is not approved.
package publish
