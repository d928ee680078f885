// Package sessions decides where the session of coding agents on a pull request stands after a cycle
// of reviews. It is pure.
//
// A session is running or paused. Package fourrules decides about each cycle by the verdicts of the
// reviewers who were asked, and [Next] makes the session's new state of that:
//
//	rule 1  escalates. Only a person's "/review resume" ends that pause.
//	rule 2  pauses until a later decision is rule 3 or 4, or a person resumes.
//	rule 0  likewise.
//	rule 3  continues. The concern is added to the list of open concerns, and stays there until
//	        its reviewer approves.
//	rule 4  continues.
//
// A cycle is decided again when an answer comes late, or when a person decides about a model's
// findings. What a person resumed the session in spite of does not pause it again, until the
// reviewer says something else or another cycle begins.
package sessions
