package webhook

import (
	"errors"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/policies/reviewreport"
)

type issueCommentEvent struct {
	envelope
	Issue struct {
		Number int      `json:"number"`
		State  string   `json:"state"`
		User   *account `json:"user"`
		// PullRequest is set if the issue is a pull request.
		PullRequest *struct{} `json:"pull_request"`
	} `json:"issue"`
	Comment post `json:"comment"`
	// Changes is set if the comment was edited.
	Changes struct {
		Body struct {
			From string `json:"from"`
		} `json:"body"`
	} `json:"changes"`
	Sender account `json:"sender"`
}

// read looks for a slash command and for a review report in a person's comment on an
// open pull request. It ignores comments of bots, ours included.
func (e *issueCommentEvent) read(d *ports.Delivery, _ int64) error {
	if e.Issue.PullRequest == nil || e.Issue.State == "closed" || e.Comment.User.Type != "User" {
		return nil
	}
	var err error
	if e.Action == "created" { // edits never command
		err = readCommand(d, ports.PlaceConversation, e.Comment, e.Sender, e.Issue.User.author(), e.about)
	}
	return errors.Join(err, e.readReport(d))
}

// readReport looks for a review report that was posted, edited or deleted.
func (e *issueCommentEvent) readReport(d *ports.Delivery) error {
	switch e.Action {
	case "created", "edited", "deleted":
	default:
		return nil
	}
	if !reviewreport.HasSection([]byte(e.Comment.Body)) && !reviewreport.HasSection([]byte(e.Changes.Body.From)) {
		return nil
	}
	t, err := e.about()
	if err = errors.Join(err, matching("comment.user.login", ownerLogin, e.Comment.User.Login)); err != nil {
		return err
	}
	d.Asks = append(d.Asks, ports.ReportNews{Target: t, Author: e.Comment.User.Login})
	return nil
}

// about returns the pull request of the comment.
func (e *issueCommentEvent) about() (ports.Target, error) {
	t, err := e.target()
	if e.Issue.PullRequest == nil {
		err = errors.New("the issue is not a pull request")
	}
	t.Kind, t.Number = ports.TargetPull, e.Issue.Number
	return t, errors.Join(err, positive("issue.number", int64(t.Number)))
}
