package webhook

import (
	"errors"

	"github.com/reviewgate/reviewgate/app/review"
	"github.com/reviewgate/reviewgate/policies/reviewreport"
)

type issueCommentEvent struct {
	envelope
	Issue struct {
		Number int     `json:"number"`
		State  string  `json:"state"`
		User   account `json:"user"`
		// PullRequest is there if the issue is a pull request.
		PullRequest *struct{} `json:"pull_request"`
	} `json:"issue"`
	Comment struct {
		ID   int64   `json:"id"`
		Body string  `json:"body"`
		User account `json:"user"`
	} `json:"comment"`
	// Changes is there if the comment was edited.
	Changes struct {
		Body struct {
			From string `json:"from"`
		} `json:"body"`
	} `json:"changes"`
	Sender account `json:"sender"`
}

// readIssueComment looks for a slash command and for a review report in a
// comment on an open pull request by a person: bots, ours among them, say
// nothing that counts.
func readIssueComment(d *review.Delivery, body []byte) error {
	var e issueCommentEvent
	if err := decode(body, &e); err != nil {
		return err
	}
	e.apply(d)
	if err := e.named(); err != nil {
		return err
	}
	if e.Issue.PullRequest == nil || e.Issue.State == "closed" || e.Comment.User.Type != "User" {
		return nil
	}
	return errors.Join(e.readCommand(d), e.readReport(d))
}

// readCommand looks for a slash command in a new comment. Edits never command.
func (e *issueCommentEvent) readCommand(d *review.Delivery) error {
	if e.Action != "created" || !e.byPerson() {
		return nil
	}
	name, ok := ParseCommand(e.Comment.Body)
	if !ok {
		return nil
	}
	t, err := e.pull()
	err = errors.Join(err,
		positive("comment.id", e.Comment.ID),
		matching("sender.login", ownerLogin, e.Sender.Login),
		matching("issue.user.login", userLogin, e.Issue.User.Login),
	)
	if err != nil {
		return err
	}
	d.Command = &review.Command{
		Place:      review.PlaceConversation,
		CommentID:  e.Comment.ID,
		Target:     t,
		Sender:     e.Sender.Login,
		Author:     e.Issue.User.Login,
		Name:       name,
		ReceivedAt: d.ReceivedAt,
	}
	return nil
}

// readReport looks for a review report that came, changed or went.
func (e *issueCommentEvent) readReport(d *review.Delivery) error {
	switch e.Action {
	case "created", "edited", "deleted":
	default:
		return nil
	}
	if !reviewreport.HasSection([]byte(e.Comment.Body)) && !reviewreport.HasSection([]byte(e.Changes.Body.From)) {
		return nil
	}
	t, err := e.pull()
	if err = errors.Join(err, matching("comment.user.login", ownerLogin, e.Comment.User.Login)); err != nil {
		return err
	}
	d.Report = &review.ReportNews{Target: t, Author: e.Comment.User.Login}
	return nil
}

// pull is the pull request that was commented on.
func (e *issueCommentEvent) pull() (review.Target, error) {
	t, err := e.target()
	t.Kind, t.Number = review.TargetPull, e.Issue.Number
	return t, errors.Join(err, positive("issue.number", int64(t.Number)))
}

// byPerson reports whether a person wrote the comment. Anything but a user,
// an app's bot or an organisation say, is none.
func (e *issueCommentEvent) byPerson() bool {
	return e.Sender.Type == "User" && e.Comment.User.Type == "User" && e.Sender.Login == e.Comment.User.Login
}
