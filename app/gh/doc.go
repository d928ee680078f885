// Package gh reads pull requests from GitHub and writes checks and comments to
// it. It is the only package that knows go-github.
//
// A call passes, from the outside in:
//
//	Client.do   answers that SHAs pin, from memory; one write at a time for
//	            each installation, a bound on calls in flight, one more try of
//	            a read that failed in passing
//	follow      redirects of renamed repositories, to the same host only
//	go-githubapp's transport (the App's JWT, or an installation's token) and
//	            HTTP cache (ETag)
//	wire        what goes over the network: held back while a rate limit's
//	            refusal holds or when the review's budget is used up; counted,
//	            logged, bounded in size, and only ever to the configured host
//
// Tokens are narrowed to the one repository that a call is about, for sweeps to
// reading pull requests, for an organisation's config to reading its repository
// .github, and for git to reading contents. A client, with its token, is kept for each repository that
// was lately worked on. Cached answers are always validated with GitHub; only
// trees, contents and comparisons, which their SHAs pin, are taken from memory
// unasked, and an organisation's config for a minute.
//
// Rate limits belong to an installation, or to the App itself, which is
// installation 0 and asks for the tokens too. What GitHub refused for is not
// asked again before the time that it named; Config.OnRefused and Client.Refuse
// carry that over to other processes.
//
// GitHub's lists leave out a part of a large change: files beyond 3,000, or 300 in a
// merge group, long diffs, and all of a file that GitHub takes for binary. If all files
// are listed and at most eight contents tell the rest, those are read one by one.
// Otherwise git fetches the change, and its diff replaces the list. If git can't, the
// list stands, and every file that is not known in full is said to be incomplete.
// Commits beyond 250 are read from a comparison.
//
// Every error is a *ports.HostError, which says whether trying again can
// help. No write is ever repeated here: whether it happened must be looked up
// first, and the caller knows how. An answer that lacks what it must have, and
// a list that is not whole, are errors too: an empty list that is none would
// have things written twice.
package gh
