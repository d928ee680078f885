package commandrun

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
)

// authorship is the sender's part in the pull request.
type authorship struct {
	own         bool           // the sender opened it or pushed to it
	unknownPush bool           // some push was not seen, so anybody may have sent it
	all         []ports.Person // who opened it or pushed to it, as far as that is known
}

// maxAlike is how many of the sender's pushes are checked for a change of content. A sender
// with more pushes counts as an author.
const maxAlike = 20

// askAuthors finds out whether the sender is one of the pull request's authors.
func (cr *commandRun) askAuthors(ctx context.Context) error {
	state, err := cr.Targets.Target(ctx, cr.Target.Key())
	if errors.Is(err, ports.ErrNotFound) {
		cr.authors = authorship{own: cr.own(), unknownPush: true, all: cr.authorsOf(nil)}
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the head of %s: %w", cr.Target.Key(), err)
	}
	pushes, err := cr.Commands.Pushes(ctx, cr.Target)
	if err != nil {
		return err
	}
	cr.authors = authorship{own: cr.own(), unknownPush: !seen(state.Target.HeadSHA, pushes), all: cr.authorsOf(pushes)}
	if cr.authors.own {
		return nil
	}
	var own []ports.Push
	for _, p := range pushes {
		switch {
		case p.Retargeted && !cr.authors.unknownPush:
			head := p.Target.HeadSHA
			alike, err := cr.alike(ctx, reviewed{head, p.FromBase}, reviewed{head, p.ToBase})
			if err != nil {
				return err
			}
			cr.authors.unknownPush = !alike || p.FromBase == ""
		case !p.Retargeted && cr.sent(p):
			own = append(own, p)
		}
	}
	cr.authors.own = len(own) > maxAlike
	for _, p := range own {
		if cr.authors.own {
			return nil
		}
		alike, err := cr.leftAlike(ctx, p)
		if err != nil {
			return err
		}
		cr.authors.own = !alike
	}
	return nil
}

// maxAuthors bounds the authors of a pull request that are kept.
const maxAuthors = 100

// authorsOf lists who opened the pull request, and who pushed to it, each once.
func (cr *commandRun) authorsOf(pushes []ports.Push) (all []ports.Person) {
	add := func(p ports.Person) {
		if p != (ports.Person{}) && len(all) < maxAuthors && !slices.ContainsFunc(all, p.Same) {
			all = append(all, p)
		}
	}
	add(ports.Person{Login: cr.Author, ID: cr.AuthorID})
	for _, p := range pushes {
		if !p.Retargeted {
			add(ports.Person{Login: p.Sender, ID: p.SenderID})
		}
	}
	return all
}

// own reports whether the sender opened the pull request. It compares login and account ID,
// because either may have changed since.
func (cr *commandRun) own() bool {
	return strings.EqualFold(cr.Sender, cr.Author) || cr.SenderID != 0 && cr.SenderID == cr.AuthorID
}

// sent reports whether the sender of the command sent the push.
func (cr *commandRun) sent(p ports.Push) bool {
	return strings.EqualFold(cr.Sender, p.Sender) || cr.SenderID != 0 && cr.SenderID == p.SenderID
}

// leftAlike reports whether a push is known to have left the change as it was, as a merge
// of the base does: both heads were reviewed, and both reviews read the same change.
func (cr *commandRun) leftAlike(ctx context.Context, p ports.Push) (bool, error) {
	if p.Before == "" {
		return false, nil
	}
	return cr.alike(ctx, reviewed{head: p.Before}, reviewed{head: p.Target.HeadSHA})
}

// reviewed is a reviewed head and its base branch at that time; an empty base means any.
type reviewed struct{ head, base string }

// alike reports whether both reviews are known and saw the same change. Unless a names a
// base, both must have the same base.
func (cr *commandRun) alike(ctx context.Context, a, b reviewed) (bool, error) {
	var facts [2]*pipeline.PRFacts
	for i, of := range []reviewed{a, b} {
		r, err := cr.History.ReviewOfHead(ctx, cr.Target.Key(), of.head, of.base)
		if err != nil {
			return false, fmt.Errorf("read the review of %s: %w", of.head, err)
		}
		if r == nil {
			return false, nil
		}
		facts[i] = &r.Review.Facts
	}
	return (a.base != "" || facts[0].Base.Ref == facts[1].Base.Ref) && pipeline.SameChange(facts[0], facts[1]), nil
}

// seen follows the pushes back from the head. It reports whether they lead to the push that
// opened the pull request, so that none is missing.
func seen(head string, pushes []ports.Push) bool {
	before := map[string][]string{}
	for _, p := range pushes {
		if !p.Retargeted {
			before[p.Target.HeadSHA] = append(before[p.Target.HeadSHA], p.Before)
		}
	}
	reached := map[string]bool{head: true}
	for next := []string{head}; len(next) > 0; next = next[1:] {
		for _, b := range before[next[0]] {
			if b == "" {
				return true
			} else if !reached[b] {
				reached[b] = true
				next = append(next, b)
			}
		}
	}
	return false
}
