// Package review holds the use cases of the App: a webhook's ask is accepted,
// its target is reviewed, the answer is published, a command is obeyed. It
// declares the ports it needs of the store and of GitHub and knows neither
// SQL nor HTTP.
//
// # One run at a time for each target, the newest wins
//
// A target is a pull request or a merge group. Every ask raises its wanted
// generation in the store and inserts a review job. That takes the target's
// lease, runs the newest generation, and stores the review; in the same
// transaction the lease goes back and a publish job comes. That one takes the
// lease again, writes check and comment, and finishes the generation;
// [Store.Finish] gives the lease back only if nothing more was asked for
// meanwhile. A job that finds the lease taken therefore ends at once: the ask
// that inserted it raised the generation before, so the holder will see it, and
// hands the target over if the next step is the other kind's.
//
// A lease carries a fencing token, and it is renewed before every write to
// GitHub; a holder that was thought dead fails there and writes nothing.
//
// # Writes survive crashes
//
// There is one comment for a pull request and at most one open check run for
// a head. Before either is created the intent is stored. An intent without an
// outcome is resolved by looking on GitHub, by external id or by marker and
// app id, before the create is tried again.
//
// # What is done without a person
//
// What models come to may become a review on GitHub, of one head and one base. At
// most one of them stands. It is written between the check and the comment, which
// tells of it, and is dismissed before another head is looked at, and wherever a
// review ends that does not come to it. The gate is never loosened by it: what it
// blocks is not approved.
//
// # Issues
//
// What is merged with warnings, or past gaps in the config, may become issues of
// the repository. A job of its own, under one lease for each repository, notes
// what the merge brings and resolves, and then tells GitHub of what changed. Each
// step is stored before the next, so that the job may be done again at any point.
package review
