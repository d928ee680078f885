// Package gh reads pull requests from GitHub and writes checks and comments to
// it. It is the only package that knows go-github.
//
// A call passes, from the outside in:
//
//	Client.do   takes answers that never change from memory; makes one write at
//	            a time for each installation; bounds the calls in flight; tries
//	            a read again after a temporary failure
//	follow      follows redirects of renamed repositories, to the same host only
//	go-githubapp's transport (the App's JWT, or an installation's token) and
//	            HTTP cache (ETag)
//	wire        sends requests to the configured host only; refuses them while
//	            a rate limit's refusal holds or when the review's budget is used
//	            up; counts and logs them, and bounds the size of answers
//
// Each token is narrowed to the one repository that a call is about. The token for
// sweeps can only read pull requests, the token for an organisation's config can only
// read its repository .github, and the token for git can only read contents. The
// package keeps a client with its token for each recently used repository. Cached
// answers are always validated with GitHub, with two exceptions. Trees, contents and
// comparisons never change, because SHAs determine them. An organisation's config is
// used for a minute.
//
// Rate limits belong to an installation, or to the App itself. The App is
// installation 0, and also requests the tokens. After a refusal the package makes no
// further call before the time that GitHub named. Config.OnRefused and Client.Refuse
// pass this on to other processes.
//
// GitHub's lists leave out parts of a large change: files beyond 3,000, or 300 in a
// merge group; long diffs; and the whole diff of a file that GitHub takes for binary. If
// all files are listed and at most eight contents are missing, they are read one by one.
// Otherwise git fetches the change, and its diff replaces the list. If git can't, the
// list stays, and every file that is not known completely is reported as incomplete.
// Commits beyond 250 are read from a comparison.
//
// Every error is a *ports.HostError, which says whether trying again can help. This
// package never repeats a write: the caller must first look up whether the write
// happened. An incomplete answer or list is an error too: if it looked like an empty
// list, the caller would write things twice.
package gh
