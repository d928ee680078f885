// Package trouble has no code, only tests. They show that killed servers, lost
// events, failing reads and a restored backup neither let a change pass that
// nobody looked at nor leave one unanswered.
package trouble
