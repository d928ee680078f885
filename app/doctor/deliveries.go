package doctor

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/reviewgate/reviewgate/app/ports"
)

// delivery is an event and the attempts to deliver it.
type delivery struct {
	newest  ports.HookAttempt
	arrived bool
}

// deliveries checks the newest part of the App's delivery log. Only the log shows whether
// the secret is right, because GitHub does not show the secret.
func (d *doctor) deliveries(ctx context.Context) {
	attempts, err := d.GitHub.LastDeliveries(ctx)
	if err != nil {
		d.failed(Deliveries, err)
		d.failed(Secret, err)
		return
	}
	if len(attempts) == 0 {
		const none = "GitHub has sent no webhook in the last three days"
		const remedy = "open a pull request or comment on one, then run doctor again"
		d.unknown(Deliveries, none, remedy)
		d.unknown(Secret, none, remedy)
		return
	}
	d.throughput(group(attempts))
	d.secret(attempts)
}

// group groups the attempts by event, newest first.
func group(attempts []ports.HookAttempt) []delivery {
	var all []delivery
	at := map[string]int{}
	for _, a := range attempts {
		i, seen := at[a.GUID]
		if !seen {
			i = len(all)
			at[a.GUID] = i
			all = append(all, delivery{newest: a})
		}
		all[i].arrived = all[i].arrived || a.Delivered()
	}
	return all
}

// throughput judges how many events arrive. If newer events arrive, the server itself
// recovers the lost ones.
func (d *doctor) throughput(all []delivery) {
	failed := slices.DeleteFunc(slices.Clone(all), func(e delivery) bool { return e.arrived })
	if len(failed) == 0 {
		d.ok(Deliveries, fmt.Sprintf("the last %d all arrived", len(all)))
		return
	}
	last := failed[0].newest
	found := fmt.Sprintf("%d of the last %d did not arrive; the newest of them, at %s, got %s",
		len(failed), len(all), last.At.UTC().Format(time.RFC3339), answerWords(last.Status))
	if all[0].arrived && len(failed)*2 < len(all) {
		d.ok(Deliveries, found+"; later ones arrived, and the server recovers the lost ones")
		return
	}
	d.problem(Deliveries, found, deliveryRemedy(last.Status))
}

func answerWords(status int) string {
	if status == 0 {
		return "no answer"
	}
	return fmt.Sprintf("the answer %d", status)
}

func deliveryRemedy(status int) string {
	switch status {
	case http.StatusUnauthorized:
		return "see the point secret below; the server recovers lost webhooks of the last three days"
	case http.StatusBadRequest:
		return "on the App's settings page, see the server's answer under Advanced, Recent Deliveries"
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		return "another program than reviewgate answers there: check the webhook's URL and the proxy in front of the server"
	case http.StatusServiceUnavailable:
		return "the server could not store it: check its log and its database"
	}
	return "check that the server runs and that GitHub can reach it at the webhook's URL, through proxies and firewalls; the server recovers lost webhooks of the last three days"
}

// secret judges the webhook secret by the server's answers, since the server checks the
// signature before anything else.
func (d *doctor) secret(attempts []ports.HookAttempt) {
	for _, a := range attempts {
		at := a.At.UTC().Format(time.RFC3339)
		switch {
		case a.Status == http.StatusUnauthorized:
			d.problem(Secret, "the server refused a signature at "+at, "on the App's settings page, set the webhook's secret to one of those in GITHUB_APP_WEBHOOK_SECRET, which the server reads when it starts")
			return
		case a.Delivered():
			d.ok(Secret, "the server accepted a signature at "+at)
			return
		}
	}
	d.unknown(Secret, "the server has checked no signature yet", "run doctor again when webhooks arrive")
}
