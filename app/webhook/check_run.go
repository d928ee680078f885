package webhook

import (
	"errors"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/render"
)

type checkRunEvent struct {
	envelope
	CheckRun struct {
		HeadSHA string   `json:"head_sha"`
		Name    string   `json:"name"`
		App     eventApp `json:"app"`
		Output  struct {
			Annotations int `json:"annotations_count"`
		} `json:"output"`
		PullRequests []checkedPull `json:"pull_requests"`
	} `json:"check_run"`
	// RequestedAction is the button that was pressed. GitHub shows these buttons only
	// to people with write permission.
	RequestedAction struct {
		Identifier string `json:"identifier"`
	} `json:"requested_action"`
}

// checkedPull is a pull request whose head a check is on.
type checkedPull struct {
	Number int `json:"number"`
	Base   struct {
		Repo struct {
			ID int64 `json:"id"`
		} `json:"repo"`
	} `json:"base"`
}

// maxNumbers bounds the pull requests that are taken from an event. The head's SHA
// finds the others.
const maxNumbers = 100

// read handles "Re-run" and the button for a review on our own check runs, and the end
// of other Apps' check runs.
func (e *checkRunEvent) read(d *ports.Delivery, app int64) error {
	if e.Action == "completed" && e.CheckRun.App.ID != app {
		return readScans(d, &e.envelope, ports.ScanNews{
			HeadSHA: e.CheckRun.HeadSHA, App: e.CheckRun.App.Slug, Check: e.CheckRun.Name, Annotated: e.CheckRun.Output.Annotations > 0,
		})
	}
	button := e.Action == "requested_action" && e.RequestedAction.Identifier == render.ActionReview
	if e.Action != "rerequested" && !button || e.CheckRun.App.ID != app {
		return nil
	}
	return e.rerequest(d, "check_run.head_sha", e.CheckRun.HeadSHA, e.CheckRun.PullRequests)
}

// rerequest asks for a new review of every target on a head. field is the payload's
// field with the head.
func (e *envelope) rerequest(d *ports.Delivery, field, head string, pulls []checkedPull) error {
	t, err := e.target()
	if err = errors.Join(err, matching(field, commitSHA, head)); err != nil {
		return err
	}
	d.Asks = append(d.Asks, ports.Rerequest{
		Installation: t.Installation, RepoID: t.RepoID, Owner: t.Owner, Name: t.Name,
		HeadSHA: head, Numbers: e.numbers(pulls),
	})
	return nil
}

// about returns the head of the check, and the pull request if there is only one.
func (e *checkRunEvent) about() (ports.Target, error) {
	return e.checked(e.CheckRun.HeadSHA, e.CheckRun.PullRequests)
}

func (e *envelope) checked(head string, pulls []checkedPull) (ports.Target, error) {
	t, err := e.target()
	t.Kind, t.HeadSHA = ports.TargetPull, head
	if numbers := e.numbers(pulls); len(numbers) == 1 {
		t.Number = numbers[0]
	}
	return t, errors.Join(err, matching("head_sha", commitSHA, head))
}

// numbers returns the pull requests into this repository: a check on a fork's
// commit also names pull requests into other repositories.
func (e *envelope) numbers(pulls []checkedPull) []int {
	var numbers []int
	for _, p := range pulls {
		if p.Number > 0 && p.Base.Repo.ID == e.Repository.ID && len(numbers) < maxNumbers {
			numbers = append(numbers, p.Number)
		}
	}
	return numbers
}

type checkSuiteEvent struct {
	envelope
	CheckSuite struct {
		HeadSHA      string        `json:"head_sha"`
		App          eventApp      `json:"app"`
		PullRequests []checkedPull `json:"pull_requests"`
	} `json:"check_suite"`
}

// about returns the head of the suite, and the pull request if there is only one.
func (e *checkSuiteEvent) about() (ports.Target, error) {
	return e.checked(e.CheckSuite.HeadSHA, e.CheckSuite.PullRequests)
}

// read handles "Re-run all checks" on our own suite, and the end of other Apps' suites:
// that event comes after the ends of their check runs, one of which may be lost. It
// ignores requested suites, which come with each push: pull_request events report the
// same.
func (e *checkSuiteEvent) read(d *ports.Delivery, app int64) error {
	switch ours := e.CheckSuite.App.ID == app; {
	case e.Action == "rerequested" && ours:
		return e.rerequest(d, "check_suite.head_sha", e.CheckSuite.HeadSHA, e.CheckSuite.PullRequests)
	case e.Action == "completed" && !ours:
		return readScans(d, &e.envelope, ports.ScanNews{HeadSHA: e.CheckSuite.HeadSHA, App: e.CheckSuite.App.Slug})
	}
	return nil
}
