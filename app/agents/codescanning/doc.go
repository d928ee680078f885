// Package codescanning is the agent that takes in what others found on the head
// of a change: annotations of other Apps' check runs, GitHub Actions among them,
// and code scanning alerts.
//
// Whose they are is a matter of trust in tools, not in people: the workflows of a
// pull request, which its author writes, annotate as well. What they say can
// therefore make a review worse, and never better: a finding is made of it, of at
// most MaxScanText bytes to each text, with secrets taken out, and all of it is
// escaped where it is shown. Findings on lines that the change does not add are
// counted and not shown, unless the settings say otherwise.
//
// Annotations are those of completed check runs. One that is not completed is
// named, and looked at when it ends. Of several runs with one name in different
// suites all count: workflows may share the names of their jobs. Only checks that
// the settings wait for keep the agent from finishing, each of an App that counts:
// any workflow can give a job the name that is waited for. One that was cancelled or
// ran out of time has not looked, and is waited for. Annotations of failures
// are major, warnings warnings, and notices information; alerts have the severity
// of their rule. All have the confidence 0.80: a deterministic tool's, that
// reviewgate has not seen at work.
//
// What can't be read fails the agent: where it is required, what was not looked at
// does not pass. So do more check runs or annotations than are read there; elsewhere
// they are a major finding, beside the alerts, which a flood must not take along. A
// repository without code scanning has no alerts, which is said and is no failure.
package codescanning
