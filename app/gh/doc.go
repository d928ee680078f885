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
// trees, blobs and comparisons, which their SHAs pin, are taken from memory
// unasked, and an organisation's config for a minute.
//
// Rate limits belong to an installation, or to the App itself, which is
// installation 0 and asks for the tokens too. What GitHub refused for is not
// asked again before the time that it named; Config.OnRefused and Client.Refuse
// carry that over to other processes.
//
// What GitHub's lists leave out of a change (files beyond 3,000, or 300 in a
// merge group, long diffs, commits beyond 250) is read another way, as far as the
// calls of a review go: files are found by comparing trees, and lines by comparing
// contents that are read by name. Where those are more than there are calls for,
// git fetches what differs. Moves of files that are only similar are found where
// GitHub or git looks for them; among files that only trees tell of, a file that
// moved and changed is one removed and one added. Such files are known by name,
// and each whose lines could not be read is said to be incomplete.
//
// Every error is a *review.HostError, which says whether trying again can
// help. No write is ever repeated here: whether it happened must be looked up
// first, and the caller knows how. An answer that lacks what it must have, and
// a list that is not whole, are errors too: an empty list that is none would
// have things written twice.
package gh
