// Package fixloop counts how often a pull request is sent back to be fixed, and says when a person
// must look at it. It is pure.
//
// A pull request is in one of these states:
//
//	pending       no report has counted yet
//	review-fix-i  the i-th attempt to fix it is open
//	escalated     the attempts are used up, and a person must look
//	complete      its newest report passed
//
// [Next] returns the state after each finished review:
//
//	a failing report of a head that did not count    opens the next attempt, or escalates
//	before                                           if there was no attempt left
//	a failing report, with more commits in the       escalates
//	attempt than are allowed
//	a report that passes                             completes; the next failing report
//	                                                 opens attempt 1
//	a head that a person passed                      completes for that head; the next
//	                                                 head continues the count
//	a failing report of a head that counted before   restores the state after that head
//	an incomplete report, one of a draft, one that   changes nothing
//	fails only because a session is paused, or one
//	that does not count by the settings
//	"/review resume" after an escalation             starts a new count from 1
//
// After an escalation, the pull request is also halted until "/review resume". Until then, nothing
// is decided without a person, whatever happens to later heads.
//
// A pull request that is closed keeps its state and continues from there if it is reopened. The
// state does not affect the gate, so it decides nothing about merging.
//
// # What a turn is
//
// The turns of an attempt are its new commits. Commits are identified by author and message, each
// as often as it is in the pull request, and not by SHA. So a rebase or a push back to an old head
// adds no turns. git's patch-id would be more exact, but it needs the diff of every commit, which
// takes one call to the code host for each. Two kinds of commit are therefore not counted: one that
// was amended without a new message, and one that replaced another with the same message. The head
// that such a commit makes counts like any other head. Commits that merge another branch, by the
// usual words of git, are not turns.
package fixloop
