// Package webhook takes GitHub's webhook deliveries in: it verifies them,
// reads what they ask for, and hands that on to be stored before it answers.
//
// A request passes these gates in order, and the first that it fails answers
// it: method, content type, shape of the signature, size, signature over the
// raw body, the other headers, and only then the JSON. Each event has its own
// small structs in a file of its own, with no more fields than are routed by.
//
//	202  accepted, seen before, or nothing to do (recorded all the same)
//	200  ping
//	400  wrong content type, headers, JSON or fields
//	401  no signature or a wrong one
//	405  not a POST
//	413  body too large
//	503  the delivery could not be stored: GitHub shows it as failed, and it
//	     can be delivered again
package webhook
