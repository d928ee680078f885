// Package secrets finds secrets in a change, replaces them by placeholders
// before anything else sees them, and reports those that the change adds.
//
// The rules are gitleaks' own, run by gitleaks' detector. On a whole diff
// that is slow, so the detector gets to see candidates only: [Detector.Redact]
// goes over the text once, looks for the literals without which a rule has no
// match, and hands each rule the few lines around its own. What it finds is
// what the detector finds on the whole text; a test compares. Comments with
// gitleaks:allow are not obeyed, since a change could wave itself through. In the
// paths that gitleaks passes over (lock files, vendored code, images) everything is
// replaced, and only what a provider's format proves is reported.
//
// To gitleaks' findings come the formats of providers' tokens, also where a token is
// written with escapes, in pieces, in base64 or with characters that nobody sees.
//
// To gitleaks' findings come private keys of which the diff shows a part
// only. Known placeholders and empty key blocks are no secrets.
//
// A secret's value leaves this package nowhere: not in redactions, findings,
// errors or logs. [Agent] works on the redactions alone.
package secrets
