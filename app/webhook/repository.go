package webhook

import (
	"errors"

	"github.com/reviewgate/reviewgate/app/review"
)

// readRepository takes the news that a repository is gone. One that got another
// name or owner is found there by its id; where the App is not installed at the
// new owner, the old one's installation tells that it lost the repository.
func readRepository(d *review.Delivery, body []byte) error {
	var e envelope
	if err := decode(body, &e); err != nil {
		return err
	}
	e.apply(d)
	if err := e.named(); err != nil {
		return err
	}
	if e.Action != "deleted" {
		return nil
	}
	if e.Installation.ID == 0 { // a webhook of somebody else's than the App's
		return nil
	}
	if err := errors.Join(positive("installation.id", e.Installation.ID), positive("repository.id", e.Repository.ID)); err != nil {
		return err
	}
	d.Forget = &review.Forget{Installation: e.Installation.ID, Repos: []int64{e.Repository.ID}}
	return nil
}
