package webhook

import (
	"errors"

	"github.com/reviewgate/reviewgate/app/ports"
)

// reviewEvent is an event of a review, or of a comment on a line.
type reviewEvent struct {
	envelope
	PullRequest struct {
		Number int      `json:"number"`
		State  string   `json:"state"`
		User   *account `json:"user"`
	} `json:"pull_request"`
	Review struct {
		post
		State    string `json:"state"`
		CommitID string `json:"commit_id"`
	} `json:"review"`
	Comment post    `json:"comment"`
	Sender  account `json:"sender"`
}

// read looks for a slash command in the text of a submitted review, or in a new comment
// on a line. It ignores edits.
func (e *reviewEvent) read(d *ports.Delivery, _ int64) error {
	if e.PullRequest.State == "closed" {
		return nil
	}
	switch author := e.PullRequest.User.author(); {
	case d.Event == "pull_request_review" && e.Action == "submitted":
		if err := readCommand(d, ports.PlaceReview, e.Review.post, e.Sender, author, e.about); err != nil || len(d.Asks) > 0 {
			return err
		}
		return e.readOpinion(d, author)
	case d.Event == "pull_request_review_comment" && e.Action == "created":
		return readCommand(d, ports.PlaceReviewLine, e.Comment, e.Sender, author, e.about)
	}
	return nil
}

// readOpinion handles the review of a person who approved a head or requested changes.
func (e *reviewEvent) readOpinion(d *ports.Delivery, author account) error {
	name := ""
	switch e.Review.State {
	case "approved":
		name = ports.OpinionApproved
	case "changes_requested":
		name = ports.OpinionChanges
	}
	if name == "" || !e.Review.byPerson(e.Sender) || !commitSHA.MatchString(e.Review.CommitID) {
		return nil
	}
	return command(d, ports.PlaceReview, e.Review.post, e.Sender, author, e.about, name, e.Review.CommitID)
}

func (e *reviewEvent) about() (ports.Target, error) {
	t, err := e.target()
	t.Kind, t.Number = ports.TargetPull, e.PullRequest.Number
	return t, errors.Join(err, positive("pull_request.number", int64(t.Number)))
}
