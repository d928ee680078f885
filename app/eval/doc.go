// Package eval measures agents: it reviews changes of which is known what is
// wrong with them, and changes with which nothing is, and counts what each agent
// finds, what it says besides, what that costs and how long it takes.
//
// A case is a directory with a case.json and the change as two trees, base and
// head; docs/reference/eval-files.md has its form. [Load] reads cases, [Run] reviews
// them by the whole pipeline with whatever agents are configured, and [Text] prints
// the figures. [RunDiffs] reviews diffs of any origin, [ScoreFindings] compares what
// any tool found with what is to be found, and [Export] writes cases as diffs. Nothing
// leaves the machine unless Options.Outside makes an agent that reaches out.
package eval
