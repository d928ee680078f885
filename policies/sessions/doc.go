// Package sessions computes the state of the session of coding agents on a pull request after a cycle
// of reviews. It is pure.
//
// A session is running or paused. Package fourrules decides each cycle by the verdicts of the reviewers
// who were asked, and [Next] derives the session's new state from the decision:
//
//	rule 1  escalates. Only a person's "/review resume" ends that pause.
//	rule 2  pauses until a later decision is rule 3 or 4, or a person resumes.
//	rule 0  pauses like rule 2.
//	rule 3  continues. The concern is added to the list of open concerns, and stays there until
//	        its reviewer approves.
//	rule 4  continues.
//
// A cycle is decided again when an answer comes late, or when a person decides about a model's
// findings. Once a person has resumed the session, the answers that the person saw do not pause it
// again until the reviewer answers differently or another cycle begins.
package sessions
