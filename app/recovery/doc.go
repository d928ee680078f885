// Package recovery finds lost deliveries and unanswered pull requests. Webhooks get lost:
// the server was down, a proxy refused them, or GitHub gave up after ten seconds. The App's
// delivery log has every attempt of the last three days, so the payload of a failed one is
// read from there. In addition, a sweep compares the open pull requests with the answers in
// the store.
package recovery
