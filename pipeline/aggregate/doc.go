// Package aggregate is the sixth stage: it puts all agents' findings together
// into one report and decides. It is pure: the same input gives the same bytes,
// in whatever order agents and findings come.
//
// The steps stand in one list, in [Aggregate]; each depends on the one before
// and records what it did in the finding's reasons and in the coverage. Nothing
// vanishes: what comes in is kept, merged away, dropped and counted, kept as a
// residual concern, or suppressed with a reason.
//
// Findings are told over time by fingerprints, which are made before anything
// is merged: a merged finding has those of all its parts, and is known again by
// any. A report remembers for the next one what was fixed and what could not be
// confirmed, so that a finding which is brought back is said to be, and one
// whose agent failed for a while is not new afterwards. No finding is resolved
// unless everybody who made it looked again.
package aggregate
