// Package store keeps what must survive a crash, in SQLite: deliveries, the
// targets they ask to review, leases, reviews, what was written to GitHub. It
// implements [review.Store], and [Queue] works the jobs, on River.
//
// # No ask is lost
//
// Each target has two counters. wanted is raised by every ask, in the
// transaction that stores the ask; done is set by [Store.Finish] to the
// generation that a run has brought to its end. Work is left as long as
// wanted > done (or a notice is unsaid). It gets done because at any moment
// one of these holds for a target with work left:
//
//   - A job for it is alive: waiting, running, or put off. The ask that raised
//     wanted above done inserted it in its own transaction. Further asks need
//     no job of their own; but where the job was put off after a failure they
//     insert one that is due at once.
//   - A run holds its lease. A job that finds the lease taken may end for good:
//     Finish compares wanted with done and gives the lease back in one
//     transaction, so either the ask came before, and Finish tells the holder
//     that there is more, or it came after, found wanted = done, and inserted a
//     job that will find the lease free.
//   - Its holder died, which the lease tells by expiring. [Store.Rescue], run
//     every few seconds while the queue runs, clears such leases and inserts a
//     job. [Store.Recover] does so at start-up without waiting where no other
//     process can be alive.
//
// Rescue also looks at targets that have work left, no lease, and no sign of
// a job for a minute, and makes sure of their job. Jobs carry a number for
// each target and River inserts no number twice while it is alive, so a job
// that waits or was put off stays the only one.
//
// # Leases
//
// A lease is a row with an owner, an expiry and a token that grows with each
// holder and never shrinks. What a run stores it stores with its lease, and
// gets [review.ErrLeaseLost] if another took it meanwhile, or Rescue did.
//
// # Connections
//
// All writes, River's too, go over one connection; reads go beside it. A
// transaction never spans a call to GitHub or an agent. Deliveries that arrive
// while a commit is being synced to disk share the next one, each within a
// savepoint of its own (see intake.go).
//
// # PostgreSQL
//
// What differs from database to database stands behind the interface backend:
// transactions, River's driver, migrations. The SQL is written in the subset
// that both share. Package storetest is the suite that each must pass.
package store
