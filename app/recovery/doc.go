// Package recovery finds what was asked for and got lost. Webhooks get lost: the server was
// down, a proxy refused them, or GitHub gave up after ten seconds. The App's delivery log
// has every attempt of the last three days, so what a failed one would have delivered is
// taken in from there. Besides, a sweep compares the open pull requests with what was
// answered.
package recovery
