// Package aggregate is the sixth stage: it puts all agents' findings together
// into one report and decides. It is pure: the same input gives the same bytes,
// in whatever order agents and findings come.
//
// The steps stand in one list, in [Aggregate]; each depends on the one before
// and records what it did in the finding's reasons and in the coverage. Nothing
// vanishes: what comes in is kept, merged away, dropped and counted, kept as a
// residual concern, or suppressed with a reason.
package aggregate
