package gh

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"time"

	"github.com/google/go-github/v60/github"

	"github.com/reviewgate/reviewgate/app/ports"
)

// deliveryLog implements ports.DeliveryLog.
type deliveryLog struct{ *api }

// attempts is a page of the delivery log.
type attempts []*github.HookDelivery

func (l *attempts) whole() error {
	return wholeList(*l, func(d *github.HookDelivery) bool {
		return d.GetID() > 0 && d.GetGUID() != "" && !d.GetDeliveredAt().IsZero()
	})
}

// maxPayload bounds the payload of one delivery, in bytes. For a larger one the server asks
// GitHub to redeliver it: the webhook accepts up to 25 MB.
const maxPayload = 4 << 20

// maxLogPages bounds how much of the delivery log is read at a time: 50,000 attempts, about
// a day's deliveries of a busy organisation.
const maxLogPages = 500

// FailedDeliveries lists the failed attempts in the App's delivery log from since on,
// newest first. It reads at most 50,000 attempts, and reports false if there are more.
// GitHub's own filter for failures is useless, because it leaves out redirections.
func (c deliveryLog) FailedDeliveries(ctx context.Context, since time.Time) ([]ports.HookAttempt, bool, error) {
	// GitHub gives times in whole seconds.
	since = since.Truncate(time.Second)
	var out []ports.HookAttempt
	whole, err := walk(ctx, c.api, ports.Target{}, request{
		op: "read the App's delivery log", scope: asApp, method: http.MethodGet, path: "/app/hook/deliveries",
	}, maxLogPages, func(page attempts) bool {
		older := false
		for _, d := range page {
			a := attempt(d)
			if older = a.At.Before(since); !older && !a.Delivered() {
				out = append(out, a)
			}
		}
		return !older // decided by the last attempt of the page
	})
	if err != nil {
		return nil, false, err
	}
	return out, whole, nil
}

func attempt(d *github.HookDelivery) ports.HookAttempt {
	return ports.HookAttempt{
		ID: d.GetID(), GUID: d.GetGUID(), Event: d.GetEvent(), Action: d.GetAction(), Status: d.GetStatusCode(),
		At: d.GetDeliveredAt().Time, Installation: d.GetInstallationID(), RepoID: d.GetRepositoryID(),
	}
}

// delivered is a single attempt with its payload.
type delivered struct {
	ID      int64 `json:"id"`
	Request struct {
		Payload json.RawMessage `json:"payload"`
	} `json:"request"`
}

func (d *delivered) whole() error {
	if d.ID <= 0 {
		return errNotWhole
	}
	return nil
}

// Payload reads the payload of an attempt.
func (c deliveryLog) Payload(ctx context.Context, attemptID int64) ([]byte, error) {
	const op = "read a delivery"
	var d delivered
	large := false
	_, err := c.do(ctx, ports.Target{}, request{
		op: op, scope: asApp, method: http.MethodGet, path: "/app/hook/deliveries/{delivery_id}", args: []any{attemptID},
	}, func(r io.Reader) error {
		l := &io.LimitedReader{R: r, N: maxPayload + 1}
		err := asJSON(&d)(l)
		if large = l.N == 0; large {
			return nil
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if p := d.Request.Payload; !large && len(p) > 0 && p[0] == '{' {
		return p, nil
	}
	return nil, &ports.HostError{Op: op, Kind: ports.HostInvalid, Err: ports.ErrNoPayload}
}

// Redeliver asks GitHub to send a delivery again, under the same GUID. It
// returns before GitHub has sent it.
func (c deliveryLog) Redeliver(ctx context.Context, attemptID int64) error {
	_, err := c.do(ctx, ports.Target{}, request{
		op: "ask for a delivery again", scope: asApp, method: http.MethodPost, accepted: true,
		path: "/app/hook/deliveries/{delivery_id}/attempts", args: []any{attemptID},
	}, ignored)
	return err
}
