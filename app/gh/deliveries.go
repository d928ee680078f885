package gh

import (
	"context"
	"net/http"
	"time"

	"github.com/google/go-github/v60/github"

	"github.com/reviewgate/reviewgate/app/review"
)

// attempts is a page of the delivery log.
type attempts []*github.HookDelivery

func (l *attempts) whole() error {
	return wholeList(*l, func(d *github.HookDelivery) bool {
		return d.GetID() > 0 && d.GetGUID() != "" && !d.GetDeliveredAt().IsZero()
	})
}

// Deliveries lists the attempts in the App's delivery log from since on, newest
// first: at most 10,000, and whole is false if there are more.
func (c *Client) Deliveries(ctx context.Context, since time.Time) ([]review.HookAttempt, bool, error) {
	// GitHub tells times in whole seconds.
	since = since.Truncate(time.Second)
	var out []review.HookAttempt
	whole, err := walk(ctx, c, review.Target{}, request{
		op: "read the App's delivery log", scope: asApp, method: http.MethodGet, path: "/app/hook/deliveries",
	}, maxWalk, func(page attempts) bool {
		older := false
		for _, d := range page {
			if older = d.GetDeliveredAt().Before(since); !older {
				out = append(out, attempt(d))
			}
		}
		return !older // goes by the last one
	})
	if err != nil {
		return nil, false, err
	}
	return out, whole, nil
}

func attempt(d *github.HookDelivery) review.HookAttempt {
	return review.HookAttempt{
		ID: d.GetID(), GUID: d.GetGUID(), Event: d.GetEvent(), Action: d.GetAction(), Status: d.GetStatusCode(),
		At: d.GetDeliveredAt().Time, Installation: d.GetInstallationID(), RepoID: d.GetRepositoryID(),
	}
}

// Redeliver asks GitHub to send a delivery again, under the same GUID. It
// returns before that is done.
func (c *Client) Redeliver(ctx context.Context, attemptID int64) error {
	_, err := c.do(ctx, review.Target{}, request{
		op: "ask for a delivery again", scope: asApp, method: http.MethodPost, accepted: true,
		path: "/app/hook/deliveries/{delivery_id}/attempts", args: []any{attemptID},
	}, ignored)
	return err
}
