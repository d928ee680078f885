// Package secrets finds secrets in a change, replaces them by placeholders before anything else
// sees them, and reports those that the change adds.
//
// The rules are gitleaks' own, and gitleaks' detector runs them. On a whole diff that is slow, so
// the detector sees only candidates: [Detector.Redact] searches the text once for the literals that
// a rule's match must contain, and passes each rule the few lines around its own literals. A test
// checks that this finds what the detector finds on the whole text. Comments with gitleaks:allow
// don't count, since a change could use them to let itself pass. In the paths that gitleaks skips
// (lock files, vendored code, images), everything is replaced, but only secrets that a provider's
// format proves are reported.
//
// The package adds the formats of providers' tokens, also if a token is written with escapes, in
// pieces, in base64 or with invisible characters. It also adds private keys that the diff shows
// only in part. Known placeholders and empty key blocks are not secrets.
//
// A secret's value never leaves this package: not in redactions, findings, errors or logs. [Agent]
// works only on redactions.
package secrets
