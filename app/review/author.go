package review

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Push says who sent a head of a pull request, as GitHub's event said: who made a
// commit says the commit itself, which anybody may forge.
type Push struct {
	Target Target
	// Before is the head that it replaced; empty for the one with which the pull
	// request was opened.
	Before string
	Sender string // login of a person
}

// authorship is what the sender of a command is to the pull request.
type authorship struct {
	own    bool // the sender opened it, or sent a push of it
	unseen bool // not every push was seen, so that anybody may have sent one
}

// askAuthors finds out whether the sender is among those who made the pull request.
func (o *order) askAuthors(ctx context.Context) error {
	state, err := o.Store.Target(ctx, o.Target.Key())
	if errors.Is(err, ErrNotFound) {
		o.authors = authorship{own: strings.EqualFold(o.Sender, o.Author), unseen: true}
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the head of %s: %w", o.Target.Key(), err)
	}
	pushes, err := o.Store.Pushes(ctx, o.Target)
	if err != nil {
		return err
	}
	o.authors = authorshipOf(o.Sender, state.Target.HeadSHA, pushes)
	o.authors.own = o.authors.own || strings.EqualFold(o.Sender, o.Author)
	return nil
}

// authorshipOf goes from the head from push to push to the one with which the pull
// request was opened. One that is missing was not seen.
func authorshipOf(sender, head string, pushes []Push) authorship {
	a := authorship{unseen: true}
	before := map[string][]string{}
	for _, p := range pushes {
		a.own = a.own || strings.EqualFold(p.Sender, sender)
		before[p.Target.HeadSHA] = append(before[p.Target.HeadSHA], p.Before)
	}
	reached := map[string]bool{head: true}
	for next := []string{head}; len(next) > 0; next = next[1:] {
		for _, b := range before[next[0]] {
			if b == "" {
				a.unseen = false
			} else if !reached[b] {
				reached[b] = true
				next = append(next, b)
			}
		}
	}
	return a
}
