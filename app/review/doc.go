// Package review holds the main use cases of the App: it accepts what a webhook asks for,
// reviews the target, publishes the answer and runs commands. It reaches the store and
// GitHub through package ports, and contains no SQL and no HTTP.
//
// # One run at a time for each target, the newest wins
//
// A target is a pull request or a merge group. Every ask raises the target's wanted
// generation in the store and inserts a review job. The review job takes the target's
// lease, runs the newest generation, and stores the review. The same transaction gives the
// lease back and inserts a publish job. The publish job takes the lease again, writes check
// and comment, and finishes the generation. Finish, a method of [ports.Leases], gives the
// lease back only if nothing more was asked for in the meantime. So a job that finds the
// lease taken ends at once: its ask has already raised the generation, so the holder will
// see it. If the next step is of the other kind, the holder hands the target over.
//
// A lease carries a fencing token and is renewed before every write to GitHub. A holder
// that lost its lease fails at that point and writes nothing.
//
// # Writes survive crashes
//
// A pull request has one comment, and a head has at most one open check run. The intent to
// create either is stored first. If an intent has no outcome, the item is looked for on
// GitHub, by external ID or by marker and app ID, before it is created again.
//
// # Actions without a person
//
// The result of the models' reviews may become a review on GitHub, for one head and one
// base. At most one such review is in force. It is submitted after the check and before the
// comment, which reports it. It is dismissed before another head is reviewed, and whenever
// a review ends with another result. It never loosens the gate: a change that the gate
// blocks is not approved.
//
// # Issues
//
// Warnings that were merged, and gaps in the config, may become issues of the repository. A
// separate job, under one lease for each repository, records what the merge adds and
// resolves, and then updates the issues on GitHub. Each step is stored before the next one,
// so the job can run again at any point.
package review
