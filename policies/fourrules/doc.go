// Package fourrules decides what becomes of the work of coding agents after
// one cycle of reviews, by the reviewers' verdicts alone:
//
//	rule 1  any blocker          stop and escalate   PAUSED
//	rule 2  two or more concerns pause and clarify   PAUSED
//	rule 3  exactly one concern  log and continue    RUNNING, flagged
//	rule 4  all approved         continue            RUNNING
//	rule 0  nobody answered      pause and clarify   PAUSED
//
// The first that holds decides. [Decode] reads what reviewers answer, from
// outside; [Decide] is pure, and the order of the answers never matters.
package fourrules
