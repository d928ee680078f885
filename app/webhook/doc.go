// Package webhook receives GitHub's webhook deliveries. It verifies them, reads what
// they ask for, and has that stored before it answers.
//
// A request must pass these checks in order: method, content type, form of the
// signature, size, signature over the raw body, the other headers, and only then the
// JSON. The first check that fails decides the answer. Each event has small structs in a
// file of its own, with only the fields that the App uses.
//
//	202  accepted, seen before, or nothing to do (also recorded)
//	200  ping
//	400  wrong content type, headers, JSON or fields
//	401  no signature or a wrong one
//	405  not a POST
//	413  body too large
//	503  the delivery could not be stored: GitHub shows it as failed, and it
//	     can be delivered again
package webhook
