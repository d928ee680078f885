package commandrun

import (
	"context"
	"fmt"

	"github.com/reviewgate/reviewgate/app/commands"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/learning"
)

// entry begins the command's entry in the log of its pull request.
func (cr *commandRun) entry(kind learning.Kind) *learning.Entry {
	return &learning.Entry{
		Event: fmt.Sprintf("command %s %d", cr.Place, cr.CommentID), Kind: kind, At: cr.SaidAt(),
		Repository: cr.Target.Owner + "/" + cr.Target.Name, Number: cr.Target.Number,
	}
}

// judged returns the entry about what the sender says of a finding. It returns nil if the command is
// about files that could not be read, or accepts an ignore comment: neither says whether a finding is
// right.
func (cr *commandRun) judged(ctx context.Context, s *subject) (*learning.Entry, error) {
	if s.id == pipeline.AcceptedUnread || cr.what.Name == commands.Accept && s.ignore != "" {
		return nil, nil
	}
	if err := cr.askAuthors(ctx); err != nil {
		return nil, err
	}
	e := cr.entry(learning.KindJudged)
	e.Judged = &learning.Judged{
		Findings: s.fingerprints, Around: s.surroundings, Person: cr.Person(cr.Sender, cr.SenderID),
		Own: cr.authors.own || cr.authors.unknownPush,
	}
	switch cr.what.Name {
	case commands.Dismiss:
		e.Judged.Verdict, e.Judged.Class = learning.Dismissed, cr.what.Class
	case commands.Accept:
		e.Judged.Verdict = learning.Accepted
	default:
		e.Judged.Verdict = learning.Restored
	}
	return e, nil
}

// decided returns the entry about what the sender decided about a head.
func (cr *commandRun) decided(action learning.Action, headSHA, baseRef string) *learning.Entry {
	e := cr.entry(learning.KindDecided)
	e.Decided = &learning.Decided{Action: action, HeadSHA: headSHA, BaseRef: baseRef, Person: cr.Person(cr.Sender, cr.SenderID)}
	return e
}
