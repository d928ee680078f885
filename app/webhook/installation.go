package webhook

import (
	"fmt"

	"github.com/reviewgate/reviewgate/app/ports"
)

type installationEvent struct {
	envelope
	// Removed are the repositories that the App may no longer see.
	Removed []struct {
		ID int64 `json:"id"`
	} `json:"repositories_removed"`
}

// read handles events that give the App access to repositories or take it away. After it
// gets access back, a sweep looks for what happened meanwhile: GitHub sent no webhooks for
// it, or it could not be reviewed. A new installation asks for nothing: pull requests that
// were open before wait for their next push. A suspended installation may come back, so
// nothing is deleted.
func (e *installationEvent) read(d *ports.Delivery, _ int64) error {
	switch d.Event + "." + e.Action {
	case "installation.unsuspend", "installation_repositories.added":
		d.Asks = append(d.Asks, ports.Sweep{Installation: e.Installation.ID})
	case "installation.new_permissions_accepted":
		d.Asks = append(d.Asks, ports.Sweep{Installation: e.Installation.ID, Granted: true})
	case "installation.deleted":
		d.Asks = append(d.Asks, ports.Forget{Installation: e.Installation.ID})
	case "installation_repositories.removed":
		return e.readRemoved(d)
	default:
		return nil
	}
	return positive("installation.id", e.Installation.ID)
}

func (e *installationEvent) readRemoved(d *ports.Delivery) error {
	if len(e.Removed) == 0 {
		return nil // a Forget without repositories means all of them
	}
	f := ports.Forget{Installation: e.Installation.ID}
	for i, r := range e.Removed {
		if r.ID <= 0 {
			return positive(fmt.Sprintf("repositories_removed[%d].id", i), r.ID)
		}
		f.Repos = append(f.Repos, r.ID)
	}
	d.Asks = append(d.Asks, f)
	return positive("installation.id", e.Installation.ID)
}
