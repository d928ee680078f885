package webhook

import "github.com/reviewgate/reviewgate/app/review"

// readInstallation takes the news that the App may see again what it could not
// see before. What happened meanwhile came without webhooks, or could not be
// reviewed. A new installation asks for nothing: pull requests that were open
// before it wait for their next push.
func readInstallation(d *review.Delivery, body []byte) error {
	var e envelope
	if err := decode(body, &e); err != nil {
		return err
	}
	e.apply(d)
	if err := e.named(); err != nil {
		return err
	}
	switch d.Event + "." + e.Action {
	case "installation.unsuspend", "installation.new_permissions_accepted", "installation_repositories.added":
	default:
		return nil
	}
	if err := positive("installation.id", e.Installation.ID); err != nil {
		return err
	}
	d.Sweep = &review.Sweep{Installation: e.Installation.ID}
	return nil
}
