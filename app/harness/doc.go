// Package harness tries the whole program: the real binary, started as
// "reviewgate serve" on a real database file or a real PostgreSQL, against a
// GitHub stand-in in the test's process. Its trials are all tests:
//
//   - TestChaos plays a script of events on many pull requests while servers
//     are killed with SIGKILL, at random times and at random requests to GitHub.
//     Coding agents report events about the pull requests, and remote reviewers answer.
//   - TestTrouble plays the script while GitHub fails in every way it knows.
//   - TestLoad sends a burst of signed webhooks at a fixed pace.
//   - TestFlood sends such a burst while the API is flooded.
//   - TestReplicas has two servers share the work of one PostgreSQL.
//   - TestLarge has changes of many files reviewed, and measures time and memory.
//   - TestIdle leaves a server alone, and measures it.
//
// In "go test ./..." they are small, and smaller still without -full: then a dead server
// is noticed after 4 s instead of 10, and PostgreSQL does not sync to disk. In both cases
// the times of sessions are shorter. The flags make the trials large, and use the program
// and PostgreSQL as they are in production:
//
//	go test ./app/harness -run TestChaos -v -timeout 40m -args -kills 200 -pulls 100 -database postgres -replicas 2 -seed 42
//
// Afterwards GitHub's state is judged: each open pull request must have one
// comment, on its head, and one completed check with the conclusion that its
// content demands; nothing may be unfinished, said twice or obeyed twice. Sessions are
// judged by the test's own record of what agents reported and reviewers answered: no event is
// lost, nobody is asked twice in a cycle about one head, each cycle is decided by the four
// rules, no fallback follows another, and check, API and session agree.
//
// # To play a failure again
//
// A trial prints its seed first. With the same -seed and the same other flags
// it plays the same script and plans the same kills. What the scheduler makes
// of them differs from run to run, so a failure that hangs on a race may take a
// few runs; -count 10 repeats them. What failed is printed as the pull
// request's story: each event, what became of its delivery, each check run,
// and the servers' log lines that name it. -keep DIR keeps the databases and
// logs; -log debug makes the logs tell more.
//
// Everything is on the loopback interface, bounded in count and time, and ended
// with the test.
package harness
