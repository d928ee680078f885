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
		// PullRequest is there if the issue is a pull request.
		PullRequest *struct{} `json:"pull_request"`
	} `json:"issue"`
	Comment said `json:"comment"`
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
func readIssueComment(d *ports.Delivery, body []byte) error {
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
	err := e.readReport(d)
	if e.Action == "created" { // edits never command
		err = errors.Join(readCommand(d, ports.PlaceConversation, e.Comment, e.Sender, e.Issue.User.author(), e.pull), err)
	}
	return err
}

// readReport looks for a review report that came, changed or went.
func (e *issueCommentEvent) readReport(d *ports.Delivery) error {
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
	d.Report = &ports.ReportNews{Target: t, Author: e.Comment.User.Login}
	return nil
}

// pull is the pull request that was commented on.
func (e *issueCommentEvent) pull() (ports.Target, error) {
	t, err := e.target()
	t.Kind, t.Number = ports.TargetPull, e.Issue.Number
	return t, errors.Join(err, positive("issue.number", int64(t.Number)))
}
