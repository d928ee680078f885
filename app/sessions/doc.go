// Package sessions runs the sessions of coding agents on pull requests.
//
// An agent reports a milestone, a blocker or a wish for a review, and that starts a cycle. A cycle is
// a review of the pull request in which the reviewers of sessions are asked: language models in the
// review itself, remote reviewers by a signed request. A remote reviewer answers in its response or
// later. The review that began the cycle shows who is still awaited. When the answers are there, or
// their time is over, another review applies the four rules to them.
//
// All timers are rows in the database, and each step is one transaction that also asks for the review
// that follows from it. So a crash loses nothing and two processes begin no cycle twice. What the
// rules decided becomes the session's state when the review is published, as the fix loop does.
package sessions
