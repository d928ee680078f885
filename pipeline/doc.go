// Package pipeline is reviewgate's glossary: the types that flow through the
// six stages, and nothing else.
//
//	normalize -> classify -> compose -> gap-detect -> dispatch -> aggregate
//
// A pull request becomes [PRFacts], which are pinned to one head SHA and written once. Facts become
// a [Classification], an [AgentManifest], a list of [GapLogEntry], one [AgentResult] for each agent
// that ran, and finally one [Report], which contains the gate's decision. A [Review] stores all of
// them together. A [RunRecord] beside it has what varies from run to run: timings, retries, and the
// run's id.
//
// A review report, in contrast, is a report on a specification or a plan that somebody else wrote,
// a person or another agent. [ReviewReportOutcome] and the other types of reviewreport.go are about
// those.
//
// The package imports only the standard library. Every other package may import it, and it imports
// none of them.
package pipeline
