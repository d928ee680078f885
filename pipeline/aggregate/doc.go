// Package aggregate is the sixth stage: it puts all agents' findings together
// into one report and decides. It is pure: the same input gives the same bytes,
// in whatever order agents and findings come.
//
// The steps stand in one list, in aggregate.go, and each in a file of its own;
// each depends on the one before and records what it did in the finding's
// reasons and in the coverage. Nothing vanishes: what comes in is kept, merged
// away, combined, dropped and counted, kept as a residual concern, or
// suppressed with a reason, and what is discarded is suppressed.
//
// Under the default gate conditions one more finding, whoever makes it, never turns
// a decision that blocks into one that passes: what is merged or combined counts as
// its strictest part, and what a failed spec stage discards is out only where the
// stage itself blocks. And under any conditions the gate is never looser with models
// than without: what is no model's is never discarded, doubted or outvoted by one,
// and of conditions that would open for what models say the stricter decision
// counts, that of a report without them.
//
// What people say counts last and is kept apart: a finding that one accepted is
// proven by that, and a decision by hand takes the place of the gate's own, which
// stands beside it in the report. Nothing else of the report changes by one.
//
// Titles are compared in bounded numbers, so that the time stays n log n
// whatever they say: see maxWords, maxLooked and maxCompared.
//
// Findings are told over time by fingerprints, which are made before anything
// is merged: a merged finding has those of all its parts, and is known again by
// any. A report remembers for the next one what was fixed and what could not be
// confirmed, so that a finding which is brought back is said to be, and one
// whose agent failed for a while is not new afterwards. No finding is resolved
// unless everybody who made it looked again.
package aggregate
