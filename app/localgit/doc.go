// Package localgit reads a change from a local git repository, as app/gh reads
// one from GitHub: a range of commits, or the work tree against where its
// branch left the default branch.
//
// It runs the git binary, which knows every kind of repository. The repository
// may be a stranger's, so nothing in it is run. Hooks, pagers, external
// diff tools, textconv and content filters, file system monitors and lazy
// fetches are switched off, even if attributes, the repository's config or the
// environment ask for them.
//
// [Fetch] reads a change of a remote repository in the same way: it fetches the part
// that differs into a directory of its own. app/gh uses it for changes that GitHub's
// lists do not show in full.
//
// Config is read at the base, so that a change can't alter the rules that judge it, or
// from a directory that the user names.
package localgit
