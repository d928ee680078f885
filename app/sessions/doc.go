// Package sessions runs the sessions of coding agents on pull requests.
//
// An agent reports a milestone or a blocker, or asks for a review. That starts a cycle: a review of
// the pull request that asks the reviewers of sessions. It asks language models itself, and sends
// remote reviewers a signed request. A remote reviewer answers in its response or later. The review
// that began the cycle shows whose answers are awaited. When all answers are there, or their deadline
// has passed, another review applies the four rules to them.
//
// All timers are rows in the database, and each step is one transaction that also asks for the review
// that follows from it. So a crash loses nothing, and two processes never begin the same cycle twice.
// The rules' decision becomes the session's state when the review is published, like the state of the
// fix loop.
package sessions
