// Package gh reads pull requests from GitHub and writes checks and comments to
// it. It is the only package that knows go-github.
//
// A call passes, from the outside in:
//
//	Client.do   one write at a time for each installation, a bound on calls
//	            in flight, one more try of a read that failed in passing
//	limits      rate limits: what GitHub refused for is not asked again
//	            before the time that it named
//	go-githubapp's installation transport (token) and HTTP cache (ETag)
//	wire        what goes over the network: counted, logged, bounded in size,
//	            and only ever to the configured host
//
// Tokens are narrowed to the one repository that a call is about. A client,
// with its token, is kept for each repository that was lately worked on.
// Cached answers are always validated with GitHub; only blobs, which their
// SHA pins, are taken from memory unasked.
//
// Every error is a *review.HostError, which says whether trying again can
// help. No write is ever repeated here: whether it happened must be looked up
// first, and the caller knows how.
package gh
