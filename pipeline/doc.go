// Package pipeline is reviewgate's glossary: the types that flow through the
// six stages, and nothing else.
//
//	normalize -> classify -> compose -> gap-detect -> dispatch -> aggregate
//
// A pull request becomes [PRFacts], which are pinned to one head SHA and
// written once. Facts become a [Classification], an [AgentManifest], a list of
// [GapLogEntry], one [AgentResult] for each agent that ran, and at last one
// [ReviewReport], whose decision is the gate. All of them together, as they
// are stored, are a [Review]; what varies from run to run (timings, retries,
// the run's id) stands beside them in a [RunRecord].
//
// The package imports the standard library only. Every other package may
// import it; it imports none of them.
package pipeline
