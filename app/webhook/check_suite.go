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

// readCheckSuite takes "Re-run all checks" on our own suite, and the end of other
// Apps' suites: it comes after the ends of their runs, of which one may be lost.
// That a suite is requested, as with each push, says nothing that pull_request
// events don't.
func readCheckSuite(d *ports.Delivery, body []byte, app int64) error {
	var e checkSuiteEvent
	if err := decode(body, &e); err != nil {
		return err
	}
	e.apply(d)
	if err := e.named(); err != nil {
		return err
	}
	switch ours := e.CheckSuite.App.ID == app; {
	case e.Action == "rerequested" && ours:
		return e.rerequest(d, "check_suite.head_sha", e.CheckSuite.HeadSHA, e.CheckSuite.PullRequests)
	case e.Action == "completed" && !ours:
		return readScans(d, &e.envelope, ports.ScanNews{HeadSHA: e.CheckSuite.HeadSHA, App: e.CheckSuite.App.Slug})
	}
	return nil
}
