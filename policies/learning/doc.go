// Package learning says what became of each finding. It is pure.
//
// Each pull request has a log of entries, which are only ever added: one for each published review,
// and one for each event that amends what the reviews say, such as a dismissal or a merge. [Replay]
// reads a log and returns the pull request's [History] with one [Outcome] for each finding. The
// result does not depend on the order in which events arrived, or on how often.
//
// [Observe] makes the entry of a review. Everything that needs the code or the config is decided
// there, because the log outlives both. So an entry holds no code, no text of a finding and no
// login.
package learning
