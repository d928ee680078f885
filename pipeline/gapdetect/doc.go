// Package gapdetect is the fourth stage. It looks for what the config may have missed. Signals are
// patterns that show a concern, such as arithmetic on money, in files that no mapping assigns to
// the concern. The agent for the concern is sent to the file. The gap is logged with the change to
// the config that would close it, as a JSON Patch of the repository's file.
//
// The stage only adds agents and widens scopes. If the agent already looks at the file, the stage
// adds nothing but still logs the gap, since the domain also matters for risk and policies.
//
// After the signals, a language model may propose gaps. Another package asks it, and
// [Detector.Propose] takes its proposals. Only the position, the agent and the words are the
// model's, and only if they can be confirmed. The patch is made here, from the path and the agent.
package gapdetect
