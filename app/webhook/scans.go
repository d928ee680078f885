package webhook

import (
	"errors"
	"regexp"
	"strconv"

	"github.com/reviewgate/reviewgate/app/ports"
)

// eventApp is the App that a check belongs to.
type eventApp struct {
	ID   int64  `json:"id"`
	Slug string `json:"slug"`
}

// maxCheckName bounds the names of Apps and check runs, in characters.
const maxCheckName = 255

// readScans handles events of other Apps' checks on a head.
func readScans(d *ports.Delivery, e *envelope, n ports.ScanNews) error {
	err := errors.Join(positive("repository.id", e.Repository.ID), matching(d.Event+".head_sha", commitSHA, n.HeadSHA))
	if err != nil {
		return err
	}
	n.RepoID, n.App, n.Check = e.Repository.ID, recordable(n.App, maxCheckName), recordable(n.Check, maxCheckName)
	d.Asks = append(d.Asks, n)
	return nil
}

type alertEvent struct {
	envelope
	Ref   string `json:"ref"` // the analysed ref; empty if a person closed or reopened the alert
	Alert struct {
		Newest *alertInstance  `json:"most_recent_instance"`
		All    []alertInstance `json:"instances"` // some actions have this list in place of the newest
	} `json:"alert"`
}

// alertInstance is a place where an alert was found.
type alertInstance struct {
	Ref string `json:"ref"`
}

// refs returns the refs on which the alert has changed.
func (e *alertEvent) refs() []string {
	if e.Ref != "" {
		return []string{e.Ref}
	}
	var refs []string
	if e.Alert.Newest != nil {
		refs = append(refs, e.Alert.Newest.Ref)
	}
	for _, i := range e.Alert.All {
		refs = append(refs, i.Ref)
	}
	return refs
}

// pullRef matches a ref of a pull request.
var pullRef = regexp.MustCompile(`^refs/pull/([1-9][0-9]{0,8})/(merge|head)$`)

// about returns the pull request that the alert is on.
func (e *alertEvent) about() (ports.Target, error) {
	t, err := e.target()
	t.Kind, t.Number = ports.TargetPull, e.number()
	return t, err
}

// number returns the pull request that the alert is on, or 0.
func (e *alertEvent) number() int {
	for _, ref := range e.refs() {
		if m := pullRef.FindStringSubmatch(ref); m != nil {
			n, _ := strconv.Atoi(m[1]) // at most nine digits
			return n
		}
	}
	return 0
}

// read handles events of a code scanning alert on a pull request. It ignores alerts on
// branches: the next analysis of a pull request takes them into account.
func (e *alertEvent) read(d *ports.Delivery, _ int64) error {
	number := e.number()
	if number == 0 {
		return nil
	}
	if err := positive("repository.id", e.Repository.ID); err != nil {
		return err
	}
	d.Asks = append(d.Asks, ports.ScanNews{RepoID: e.Repository.ID, Number: number})
	return nil
}
