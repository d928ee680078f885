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

// readScans handles news of other Apps' checks on a head.
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
	Ref   string `json:"ref"` // that was analysed; empty where a person closed the alert or opened it again
	Alert struct {
		Newest *alertInstance  `json:"most_recent_instance"`
		All    []alertInstance `json:"instances"` // in the place of the newest, of some actions
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

// read handles news of a code scanning alert on a pull request. It ignores alerts on
// branches: the next analysis of a pull request takes them into account.
func (e *alertEvent) read(d *ports.Delivery, _ int64) error {
	var of []string
	for _, ref := range e.refs() {
		if of = pullRef.FindStringSubmatch(ref); of != nil {
			break
		}
	}
	if of == nil {
		return nil
	}
	if err := positive("repository.id", e.Repository.ID); err != nil {
		return err
	}
	number, _ := strconv.Atoi(of[1]) // nine digits
	d.Asks = append(d.Asks, ports.ScanNews{RepoID: e.Repository.ID, Number: number})
	return nil
}
