package webhook

import (
	"fmt"

	"github.com/reviewgate/reviewgate/app/ports"
)

type installationEvent struct {
	envelope
	// Removed are the repositories that the App may not see any more.
	Removed []struct {
		ID int64 `json:"id"`
	} `json:"repositories_removed"`
}

// read takes the news that the App may see again what it could not
// see before, and that it may not see any more what it could. What happened
// while it could not came without webhooks, or could not be reviewed. A new
// installation asks for nothing: pull requests that were open before it wait for
// their next push. One that is suspended may be unsuspended.
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
		return nil // none must not read as all
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
