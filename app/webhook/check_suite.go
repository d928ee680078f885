package webhook

import "github.com/reviewgate/reviewgate/app/review"

type checkSuiteEvent struct {
	envelope
	CheckSuite struct {
		HeadSHA string `json:"head_sha"`
		App     struct {
			ID int64 `json:"id"`
		} `json:"app"`
		PullRequests []checkedPull `json:"pull_requests"`
	} `json:"check_suite"`
}

// readCheckSuite takes "Re-run all checks" on our own suite. That a suite is
// requested, as with each push, says nothing that pull_request events don't.
func readCheckSuite(d *review.Delivery, body []byte, app int64) error {
	var e checkSuiteEvent
	if err := decode(body, &e); err != nil {
		return err
	}
	e.apply(d)
	if err := e.named(); err != nil {
		return err
	}
	if e.Action != "rerequested" || e.CheckSuite.App.ID != app {
		return nil
	}
	return e.rerequest(d, "check_suite.head_sha", e.CheckSuite.HeadSHA, e.CheckSuite.PullRequests)
}
