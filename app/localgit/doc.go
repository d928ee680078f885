// Package localgit reads a change from a local git repository, as app/gh reads
// one from GitHub: a range of commits, or the work tree against where its
// branch left the default branch.
//
// It asks the git binary, which knows every kind of repository. The repository
// may be a stranger's: nothing that it holds is run. Hooks, pagers, external
// diff tools, textconv and content filters, file system monitors and lazy
// fetches are switched off, whether attributes, its config or the environment
// ask for them.
//
// [Fetch] reads a change of a remote repository in the same way: the part of it
// that differs is fetched into a directory of its own. app/gh reads by it what GitHub's
// lists do not show, so that one reader takes in what git prints.
//
// Config is read at the base, so that a change has no say in the rules that it
// is judged by, or from a directory that the user names.
package localgit
