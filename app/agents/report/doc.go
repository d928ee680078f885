// Package report is the agent that reads review reports: markdown in which a
// reviewer of a specification or plan says, for machines, whether work may go on.
// package policies/reviewreport decides what they come to; this one finds them.
//
// They stand in files of the change, and in comments on the pull request. A
// file that the change adds is in the facts, whole; of others the text is read
// at the head that the facts are pinned to. Files of one directory are about one
// document. Comments name none: they join the directory of their phase where
// there is just one, and stand for themselves elsewhere. A report that says
// technical_review is about a plan, any other about a specification.
//
// A comment counts only if its author may write to the repository, which is
// asked of the code host when the report is read; what an author calls itself,
// or is associated as, is no proof. Who has no write permission can't edit
// another's comment either, so that the author vouches for the text. Bots have
// no permission that could be asked for, and do not count.
//
// Whatever can't be read fails the agent, which is required where it ships: what
// was not looked at does not pass. A report that can be read and makes no sense
// blocks by itself.
package report
