// Package fourrules decides how the work of coding agents continues after one cycle of reviews, by
// the reviewers' verdicts alone. The first rule that applies decides:
//
//	rule 1  any blocker           stop and escalate   PAUSED
//	rule 2  two or more concerns  pause and clarify   PAUSED
//	rule 0  an answer is missing  pause and clarify   PAUSED
//	rule 3  exactly one concern   log and continue    RUNNING, flagged
//	rule 4  all approved          continue            RUNNING
//
// [Decode] reads reviewers' answers from outside. [Decide] is pure, and the order of the answers has
// no effect.
package fourrules
