// Package aggregate is the sixth stage. It combines all agents' findings into one
// report and decides. It is pure: the same input gives the same bytes, whatever
// order agents and findings come in.
//
// aggregate.go lists the steps; each has a file of its own. Each step depends on
// the one before it, and records what it did in the finding's reasons and in the
// coverage. Nothing is lost: every finding is kept, merged, combined with others
// into a trade-off, dropped and counted, kept as a residual concern, or suppressed
// with a reason. Discarded findings are suppressed.
//
// Under the default gate conditions, one more finding never turns a decision that
// blocks into one that passes, whoever makes it. A merged finding counts as its
// strictest part, and what a failed spec stage discards is out only where the
// stage itself blocks. Under any conditions, the gate is never looser with models
// than without them. A model can't discard, doubt or outvote a finding that no
// model made. If a condition would hold because of what models say, the stricter
// decision of a report without models counts.
//
// Memory may only take confidence from what models found and what does not block, so that it is
// doubted or hidden; see withMemory. The report is made without memory first. If what blocks, or a
// decision that blocks, would differ with memory, the report without it counts. Memory does not
// change what the models' reviews come to either, so it leads to no automatic approval.
//
// What people decide counts last and is recorded separately. A finding that a
// person accepted is proven. A decision by hand replaces the gate's decision, which
// the report keeps beside it. It changes nothing else in the report.
//
// The number of titles that are compared is bounded, so that the time is n log n
// whatever the titles are: see maxWords, maxLooked and maxCompared.
//
// Fingerprints identify findings over time. They are made before findings are
// merged: a merged finding has the fingerprints of all its parts, and any of them
// identifies it. A report remembers for the next one what was fixed and what could
// not be confirmed. So a finding that comes back is reported as back, and a finding
// whose agent failed for a while is not new afterwards. A finding is resolved only
// when everyone who made it has looked again.
package aggregate
