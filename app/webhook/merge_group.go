package webhook

import (
	"errors"
	"regexp"
	"strconv"

	"github.com/reviewgate/reviewgate/app/ports"
)

type mergeGroupEvent struct {
	envelope
	MergeGroup struct {
		HeadSHA string `json:"head_sha"`
		HeadRef string `json:"head_ref"`
		BaseSHA string `json:"base_sha"`
	} `json:"merge_group"`
}

func (e *mergeGroupEvent) read(d *ports.Delivery, _ int64) error {
	if e.Action != "checks_requested" && e.Action != "destroyed" {
		return nil
	}
	t, err := e.about()
	if err != nil {
		return err
	}
	if e.Action == "destroyed" {
		d.Asks = append(d.Asks, ports.Close{Target: t})
		return nil
	}
	d.Asks = append(d.Asks, ports.ReviewAsk{Target: t, Reason: "entered the merge queue"})
	return nil
}

func (e *mergeGroupEvent) about() (ports.Target, error) {
	t, err := e.target()
	t.Kind = ports.TargetGroup
	t.HeadSHA = e.MergeGroup.HeadSHA
	t.BaseSHA = e.MergeGroup.BaseSHA
	t.HeadRef = e.MergeGroup.HeadRef
	t.Number = queuedPull(t.HeadRef)
	return t, errors.Join(err,
		matching("merge_group.head_sha", commitSHA, t.HeadSHA),
		matching("merge_group.base_sha", commitSHA, t.BaseSHA),
		matching("merge_group.head_ref", refName, t.HeadRef),
	)
}

var (
	// A git ref has no control characters and no spaces.
	refName = regexp.MustCompile(`^refs/heads/[^\x00-\x20\x7f]{1,1000}$`)
	// The base may have slashes; the last part names the newest pull request
	// of the group.
	queueRef = regexp.MustCompile(`^refs/heads/gh-readonly-queue/.+/pr-([1-9][0-9]{0,8})-(?:[0-9a-f]{40}|[0-9a-f]{64})$`)
)

// queuedPull returns the number of the pull request in a merge group's ref, or 0. The
// payload names the pull request nowhere else.
func queuedPull(ref string) int {
	m := queueRef.FindStringSubmatch(ref)
	if m == nil {
		return 0
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		return 0
	}
	return n
}
