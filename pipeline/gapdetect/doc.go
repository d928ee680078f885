// Package gapdetect is the fourth stage: it looks for what the config may
// have missed. Signals are patterns that show a concern, such as arithmetic
// on money, in files that no mapping covers for it. The agent for the concern
// is sent there, and the gap is logged with the change to the config that
// would close it.
//
// The stage only adds agents and widens scopes. It says nothing of a file
// that the agent looks at anyway: there nothing was missed.
package gapdetect
