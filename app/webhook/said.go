package webhook

import (
	"errors"
	"time"

	"github.com/reviewgate/reviewgate/app/ports"
)

// said is what somebody wrote on a pull request.
type said struct {
	ID   int64   `json:"id"`
	Body string  `json:"body"`
	User account `json:"user"`
	// CreatedAt is a comment's, SubmittedAt a review's.
	CreatedAt   time.Time `json:"created_at"`
	SubmittedAt time.Time `json:"submitted_at"`
	// ViaApp is the App that wrote it in the person's name.
	ViaApp *struct {
		ID int64 `json:"id"`
	} `json:"performed_via_github_app"`
}

// lateAfter is how much later than it was said something comes whose delivery
// was lost. Below it the server's clock alone counts, for GitHub's may differ.
const lateAfter = time.Minute

// came is when it came, or was said if it comes late.
func (s *said) came(received time.Time) time.Time {
	at := s.CreatedAt
	if at.IsZero() {
		at = s.SubmittedAt
	}
	if at.IsZero() || received.Sub(at) < lateAfter {
		return received
	}
	return at
}

// byPerson reports whether a person wrote it and sent it. Bots and organisations don't
// count, nor do Apps that write in a person's name: what they write may come from
// somebody else.
func (s *said) byPerson(sender account) bool {
	return s.ViaApp == nil && sender.Type == "User" && s.User.Type == "User" && sender.Login == s.User.Login
}

// readCommand looks for a slash command in what was just said. pull is asked for
// the pull request only where there is one: nothing of other comments is routed
// by. author is the pull request's.
func readCommand(d *ports.Delivery, place ports.CommentPlace, s said, sender, author account, pull func() (ports.Target, error)) error {
	if !s.byPerson(sender) {
		return nil
	}
	name, args, ok := ParseCommand(s.Body)
	if !ok {
		return nil
	}
	return command(d, place, s, sender, author, pull, name, args)
}

// command has a delivery bring a command.
func command(d *ports.Delivery, place ports.CommentPlace, s said, sender, author account, pull func() (ports.Target, error), name, args string) error {
	t, err := pull()
	// Of issues GitHub tells no head, and what another event tells may be old.
	t.HeadSHA = ""
	err = errors.Join(err,
		positive("the id of what was said", s.ID),
		matching("sender.login", ownerLogin, sender.Login),
		matching("the pull request's user.login", userLogin, author.Login),
	)
	if err != nil {
		return err
	}
	d.Asks = append(d.Asks, ports.Command{
		Place: place, CommentID: s.ID, Target: t, Sender: sender.Login, Author: author.Login,
		SenderID: sender.ID, AuthorID: author.ID,
		Name: name, Args: args, ReceivedAt: s.came(d.ReceivedAt),
	})
	return nil
}
