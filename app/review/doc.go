// Package review accepts what a webhook asks for, runs each job of the queue, and reviews
// targets. Packages publish, commandrun, issues and others do the rest. The package
// reaches the store and GitHub through package ports, and contains no SQL and no HTTP.
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
// A pull request has one comment, and a head has at most one open check run. Package once
// makes sure of that even if a process dies between creating one and recording it.
package review
