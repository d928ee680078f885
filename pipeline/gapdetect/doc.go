// Package gapdetect is the fourth stage: it looks for what the config may
// have missed. Signals are patterns that show a concern, such as arithmetic
// on money, in files that no mapping covers for it. The agent for the concern
// is sent there, and the gap is logged with the change to the config that
// would close it, as a JSON Patch of the repository's file.
//
// The stage only adds agents and widens scopes. Where the agent looks at the
// file anyway it adds nothing, but the gap is logged all the same: the domain
// counts for risk and policies, too.
//
// After the signals a language model may propose gaps. It is asked elsewhere:
// [Detector.Propose] takes its proposals, of which only the place, the agent and the
// words are the model's, and these only where they are borne out. The patch is made
// here, of the path and the agent.
package gapdetect
