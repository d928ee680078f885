// Package eval measures agents. It reviews changes with known defects, and changes
// without any. It counts the defects that each agent finds and its other findings,
// and measures their cost and time.
//
// A case is a directory with a case.json and the change as two trees, base and
// head; docs/reference/eval-files.md has its form. [Load] reads cases, [Run] reviews
// them by the whole pipeline with the configured agents, and [Text] prints
// the figures. [RunDiffs] reviews diffs of any origin, [ScoreFindings] compares what
// any tool found with what is expected, and [Export] writes cases as diffs. Nothing
// leaves the machine unless Options.IOAgents makes an agent that uses the network.
package eval
