package webhook

import (
	"errors"
	"time"

	"github.com/reviewgate/reviewgate/app/ports"
)

// post is a comment or a review on a pull request.
type post struct {
	ID   int64   `json:"id"`
	Body string  `json:"body"`
	User account `json:"user"`
	// CreatedAt is set for comments, SubmittedAt for reviews.
	CreatedAt   time.Time `json:"created_at"`
	SubmittedAt time.Time `json:"submitted_at"`
	// ViaApp is the App that wrote the text in the person's name.
	ViaApp *struct {
		ID int64 `json:"id"`
	} `json:"performed_via_github_app"`
}

// lateAfter is the delay from which a comment counts as late, since its delivery was lost.
// Up to that, only the server's clock counts, since GitHub's may differ.
const lateAfter = time.Minute

// written returns when the text was written, or the zero time if the event does not say.
func (s *post) written() time.Time {
	if s.CreatedAt.IsZero() {
		return s.SubmittedAt
	}
	return s.CreatedAt
}

// arrived returns when the text arrived, or when it was written if it arrived late.
func (s *post) arrived(received time.Time) time.Time {
	at := s.written()
	if at.IsZero() || received.Sub(at) < lateAfter {
		return received
	}
	return at
}

// byPerson reports whether a person wrote and sent the text. Bots and organisations don't
// count, nor do Apps that write in a person's name: their text may come from somebody
// else.
func (s *post) byPerson(sender account) bool {
	return s.ViaApp == nil && sender.Type == "User" && s.User.Type == "User" && sender.Login == s.User.Login
}

// readCommand looks for a slash command in a new comment or review. It calls pull, which
// returns the pull request, only if there is a command. author is the author of the pull
// request.
func readCommand(d *ports.Delivery, place ports.CommentPlace, s post, sender, author account, pull func() (ports.Target, error)) error {
	if !s.byPerson(sender) {
		return nil
	}
	name, args, ok := ParseCommand(s.Body)
	if !ok {
		return nil
	}
	return command(d, place, s, sender, author, pull, name, args)
}

// command adds a command to a delivery.
func command(d *ports.Delivery, place ports.CommentPlace, s post, sender, author account, pull func() (ports.Target, error), name, args string) error {
	t, err := pull()
	// An event about an issue has no head, and the head in other events may be old.
	t.HeadSHA = ""
	err = errors.Join(err,
		positive("the id of the comment or review", s.ID),
		matching("sender.login", ownerLogin, sender.Login),
		matching("the pull request's user.login", userLogin, author.Login),
	)
	if err != nil {
		return err
	}
	d.Asks = append(d.Asks, ports.Command{
		Place: place, CommentID: s.ID, Target: t, Sender: sender.Login, Author: author.Login,
		SenderID: sender.ID, AuthorID: author.ID,
		Name: name, Args: args, ReceivedAt: s.arrived(d.ReceivedAt), WrittenAt: s.written(),
	})
	return nil
}
