// Package store keeps in SQLite or PostgreSQL what must survive a crash:
// deliveries, the targets they ask to review, leases, reviews, and records of what was
// written to GitHub. It implements [ports.Store]. [Queue] runs the jobs, with River.
//
// # No ask is lost
//
// Each target has two counters. wanted is raised by every ask, in the
// transaction that stores the ask; done is set by [Store.Finish] to the
// generation that a run has brought to its end. Work is left as long as
// wanted > done (or a notice is not posted). A run has two halves. Each is done by a
// job of its own under a lease of its own: a review job ends in
// [Store.SaveReview], and a publish job in Finish. For what follows, the kind of the job
// does not matter: each looks for work of both kinds, and hands over to the other kind
// with [Store.HandOver].
//
// The work gets done because at any moment one of these holds for a target
// with work left:
//
//   - A job for it is alive: waiting, running, or put off. The ask that raised
//     wanted above done inserted one in its own transaction.
//   - A run holds its lease.
//   - Its holder died.
//
// A job that finds the lease taken may end for good. However the holder ends, one of the
// three holds afterwards:
//
//   - SaveReview and HandOver give the lease back and insert a job in one
//     transaction. An ask that comes between them and that job's Acquire needs
//     none of its own.
//   - Finish compares wanted with done and gives the lease back in one
//     transaction: either an ask came before, and Finish tells the holder, which
//     keeps the lease, that there is more; or it came after, found
//     wanted = done, and inserted a job that will find the lease free.
//   - [Store.Failed] and [Store.Release] are called by a job that is then put
//     off, and so stays alive. Failed notes it at the target: the next ask
//     inserts a job that is due at once. Then two may be alive, of either kind.
//     Both take the lease in turn, and whichever comes late finds nothing left;
//     an older review that was waiting to be published gives way, since
//     [Store.UnpublishedReview] returns the newest alone.
//   - If the holder dies, its lease runs out: when it expires, or as soon as its
//     process is known to be dead (see below). [Store.Rescue], run every few
//     seconds while the queue runs, frees it, counts the crash, and inserts a
//     review job, which hands over if a review was saved. [Store.Recover] does
//     so at start-up without waiting where no other process can be alive.
//
// So an ask needs a job only if wanted = done, or if a failure was noted. Rescue
// also looks at targets that have work left, no lease, and no sign of a job for
// a minute, and makes sure of their newest job, whichever kind it is. Jobs carry
// a number for each target and River inserts no number twice while it is alive,
// so a job that waits or was put off stays the only one.
//
// # Leases
//
// A lease is a row with an owner, an expiry and a token that grows with each
// holder and never shrinks. A run shows its lease with each write, and gets
// [review.ErrLeaseLost] if another holder, or Rescue, took the lease meanwhile.
//
// # SQLite
//
// All writes, River's too, share one connection; reads have connections of their own. A
// transaction never spans a call to GitHub or an agent. Writes that arrive while a commit
// is being synced to disk share the next commit. Each has a savepoint of its own, and
// deliveries go first (see group.go). A lock on a file keeps other processes out.
//
// # PostgreSQL
//
// The interface backend hides the differences between the databases: transactions,
// River's driver, migrations. The SQL is written in the subset that both share. Each
// database must pass the suite in package storetest.
//
// Several processes may share the database. Each keeps a row in the table
// processes and renews it every two seconds. Rescue, in every process, finds
// rows that ran out 10 seconds after the last beat, and in one transaction
// deletes the row, ends the leases of that process, and makes the jobs
// available that ran under it, commands and the like too. A process that closes
// its store does so itself. If a process counts as dead although it lives, it loses each
// lease that another takes meanwhile, and its next heartbeat adds its row again. All
// times are by the database's clock.
//
// Reads see one snapshot (REPEATABLE READ). Writes run under READ COMMITTED,
// where each statement sees what was committed before it began, and lock the
// rows that they judge before they do. Why that is enough:
//
//   - Accept inserts the delivery first. If two deliveries have one GUID, the second
//     waits there for the first. It is a duplicate if the first commits, and takes its
//     place if the first fails. A redelivery locks its delivery and then its target
//     before it checks whether the earlier ask was given up. If several come at once,
//     the first counts, and the others see what it asked for.
//   - An ask locks the target, or inserts it and so waits for others that are
//     inserting it, before it compares counters and heads. Finish locks the lease
//     and then the target: an ask comes wholly before it or wholly after.
//   - A target that leaves a head locks the others on it before it asks for them. So it
//     sees if one of them has left the head too. If two leave at once, they need each
//     other's rows: PostgreSQL aborts one transaction after a second, and its function
//     runs again. So the function must set all of its results again.
//   - Acquire takes the lease in one statement whose condition is judged again
//     after a wait for another's commit. What is stored with a lease locks its
//     row first (fence), so that it is not taken before the commit; Release,
//     Failed and HandOver change it first, which is the same.
//   - Rescue frees a lease on the condition that it is still expired, and bury
//     deletes a process on the condition that it is; of two at once, one finds
//     nothing to do. The jobs that Rescue then inserts are numbered under the
//     target's lock.
//   - Jobs are told apart by a unique index of River's, and an insert that meets
//     an equal job waits for its transaction.
//   - Obey and Refuse lock the command, and then its target where they ask or
//     keep a notice. Notices, results, heads, marks, refusals, records of writes
//     and outcomes of commands are each one statement on one row, or follow a
//     lock on it; a good layer's files follow the upsert of its
//     row. Texts are never changed.
//   - A transaction that changes a session first locks the target, or the lease of its run,
//     and then the session's row, before it judges them. So if two processes find a session
//     due, the second sees that the first has done the work. Of two events with one id,
//     the second waits for the first.
//
// A transaction that locks several rows locks them in the order delivery or command,
// lease, target, session, request. If it locks several of one kind, a deadlock is
// possible, and the transaction is tried again as above.
package store
