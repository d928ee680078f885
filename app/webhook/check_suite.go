package webhook

import (
	"github.com/reviewgate/reviewgate/app/ports"
)

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
