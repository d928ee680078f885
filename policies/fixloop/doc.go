// Package fixloop counts how often a pull request is sent back to be fixed, and
// says when a person has to look at it. It is pure.
//
// A pull request is in one of these states:
//
//	pending       no report has counted yet
//	review-fix-i  the i-th attempt to fix it is open
//	escalated     the attempts are used up: a person has to look
//	complete      its newest report passed
//
// [Next] leads from one to the next with each finished review:
//
//	a failing report of a head that has not counted  opens the next attempt;
//	                                                 after the last one: escalated
//	more commits in one attempt than are allowed,    escalated
//	and the report fails
//	a report that passes                             complete; the next to fail
//	                                                 opens attempt 1
//	a head that was passed by hand                   complete for that head; the
//	                                                 next goes on where it stood
//	a failing report of a head that has counted      where that left it
//	an incomplete one, one of a draft, or one that   nothing
//	does not count by the settings
//	"/review resume" where it is escalated           a count of its own, from 1
//
// From an escalation until "/review resume" it is halted besides, whatever later
// heads come to: nothing is decided without a person meanwhile.
//
// A pull request that is closed keeps its state: reopened, it goes on from there.
// The gate never asks for the state, which decides about no merge.
//
// # What a turn is
//
// The commits of an attempt are told by author and message, each as often as it
// stands in the pull request, not by SHA: a rebase or a push back to an old head
// brings none. git's patch-id would tell more, and needs the diff of every commit:
// one call to the code host for each. What it would count and this does not is a
// commit that was amended under the same message, and one that took the place of
// another of the same message; the head that it makes counts as any other does.
// Commits that merge another branch, by git's own words for them, are no turns.
package fixloop
