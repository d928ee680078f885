// Package outbound sends signed requests to the receivers that the server's config names, and
// verifies the signed requests that come back.
//
// [Client.Post] sends a request once. If the error says that another try can help, the caller tries
// again with the same id. Receivers, and everything that they answer, are not trusted:
//
//   - Only public addresses and those in the receiver's allow_private are called, and only the latter
//     may be called without TLS. The address is checked just before the system connects to it.
//     code.dny.dev/ssrf knows which addresses are public: it is small, has no dependencies, and follows
//     IANA's registries. It refuses all of NAT64, 6to4 and Teredo, whatever IPv4 address they contain.
//     A network that reaches IPv4 only by NAT64 needs 64:ff9b::/96 in allow_private.
//   - Redirects are not followed, and no proxy is used.
//   - Time and sizes have bounds: 10 s for connecting with TLS, 30 s for everything, 64 KiB of
//     headers, 1 MiB of an answer. A compressed answer is refused.
//   - Errors quote nothing that a receiver sent, and nothing of its URL except a host's address.
//
// # How a receiver verifies a request
//
// A request has two headers:
//
//	X-Reviewgate-Timestamp: 1760000000
//	X-Reviewgate-Signature-256: sha256=f7ceb26b78a26f8bda2639953bad7147986dea4da2adbdc06bcd03f83a433ad1
//
// The timestamp is in seconds since 1970. The signature is the HMAC-SHA256 of the timestamp, a dot
// and the body, as 64 lower-case hexadecimal digits. The key is the shared secret, in UTF-8. The
// signature above is that of the body {"type":"review_result"} with the secret "a secret of the
// docs". A receiver computes it from the bytes of the body as they arrived, before it parses them;
// compares it in constant time; and refuses timestamps that are more than 5 minutes from its own
// clock. In Python:
//
//	signed = headers["X-Reviewgate-Timestamp"].encode() + b"." + body
//	want = "sha256=" + hmac.new(secret, signed, hashlib.sha256).hexdigest()
//	valid = (hmac.compare_digest(want, headers["X-Reviewgate-Signature-256"])
//	         and abs(time.time() - int(headers["X-Reviewgate-Timestamp"])) <= 300)
//
// The same request can arrive more than once, each time with its own signature and the same
// X-Reviewgate-Request-Id. The signature does not cover this header, so a receiver relies on the id in
// the body. It signs its own requests to reviewgate in the same way; see [Sign] and [Verify].
package outbound
