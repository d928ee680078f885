// Package trouble has no code, only tests. They show that killed servers, lost
// events, failing reads, a restored backup and the database of an older version
// neither let a change pass that nobody looked at nor leave one unanswered.
package trouble
