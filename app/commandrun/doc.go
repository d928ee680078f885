// Package commandrun runs slash commands: it finds out whether the sender may give one,
// stores what it changes, and answers the sender.
package commandrun
