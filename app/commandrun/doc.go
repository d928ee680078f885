// Package commandrun runs slash commands. It finds out whether the sender may give a
// command, stores the effect, and answers the sender.
package commandrun
