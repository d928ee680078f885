// Package commands is the grammar of the slash commands: which there are, what
// follows each, and who may give it. [All] is the one table of them, which
// parsing, the help and the guide's table are made from.
//
// It knows words only. Where a command stands in a comment is found by
// app/webhook; whether its sender may give it, and what it does, is judged by
// app/commandrun.
package commands
