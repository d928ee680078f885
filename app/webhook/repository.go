package webhook

import (
	"cmp"
	"errors"

	"github.com/reviewgate/reviewgate/app/ports"
)

type repositoryEvent struct {
	envelope
	Changes struct {
		Repository struct {
			Name struct {
				From string `json:"from"`
			} `json:"name"`
		} `json:"repository"`
		Owner struct {
			From struct {
				User         account `json:"user"`
				Organization account `json:"organization"`
			} `json:"from"`
		} `json:"owner"`
	} `json:"changes"`
}

// was returns the repository's owner and name before the event.
func (e *repositoryEvent) was() (owner, name string) {
	from := e.Changes.Owner.From
	return cmp.Or(from.Organization.Login, from.User.Login, e.Repository.Owner.Login), cmp.Or(e.Changes.Repository.Name.From, e.Repository.Name)
}

// read handles the event that a repository was deleted, renamed or transferred. A
// repository with a new name or owner is found by its id. Its open pull requests are
// reviewed again, since config may depend on the name. If the App is not installed at
// the new owner, the old owner's installation reports that it lost the repository.
func (e *repositoryEvent) read(d *ports.Delivery, _ int64) error {
	if e.Installation.ID == 0 { // the event is not from the App's own webhook
		return nil
	}
	switch e.Action {
	case "renamed", "transferred":
		return e.readMove(d)
	case "deleted":
	default:
		return nil
	}
	if err := errors.Join(positive("installation.id", e.Installation.ID), positive("repository.id", e.Repository.ID)); err != nil {
		return err
	}
	d.Asks = append(d.Asks, ports.Forget{Installation: e.Installation.ID, Repos: []int64{e.Repository.ID}})
	return nil
}

func (e *repositoryEvent) readMove(d *ports.Delivery) error {
	t, err := e.target()
	owner, name := e.was()
	if err := errors.Join(err, matching("changes.owner.from", ownerLogin, owner), repositoryName(name)); err != nil {
		return err
	}
	t.Kind = ports.TargetPull
	d.Asks = append(d.Asks, ports.ConfigNews{Repository: t, Was: owner + "/" + name})
	return nil
}
