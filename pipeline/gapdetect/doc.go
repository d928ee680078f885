// Package gapdetect is the fourth stage. It looks for what the config may have missed. Signals are
// patterns that show a concern, such as arithmetic on money, in files that no mapping assigns to
// the concern's domain. A signal counts only if closing the gap would change something: an agent
// would look at the file that does not, or an agent would be required. The gap is logged with the
// change to the config that closes it, as a JSON Patch of the repository's file, and the agents are
// sent to the file at once:
//
//   - If policies that read the domain send all these agents, the patch maps the file to the domain.
//   - Otherwise the patch is a policy that sends them to the file.
//
// These agents are the signal's own, those that ask a model about its rules, and those of the policies
// that read the domain.
//
// The stage only adds agents and widens scopes.
//
// After the signals, a language model may propose gaps. Another package asks it, and
// [Detector.Propose] takes its proposals. Only the position, the agent and the words are the
// model's, and only if they can be confirmed. The patch is made here, from the path and the agent.
package gapdetect
