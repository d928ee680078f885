package ghtest

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// deliveryLife is how long GitHub keeps deliveries. Those of the past three days are listed
// and can be sent again, and older ones are gone.
const deliveryLife = 3 * 24 * time.Hour

// code is the status that the log shows. Without an answer it is a gateway's, as in the
// examples of GitHub's description ("failed to connect", 502).
func (d *Delivery) code() int {
	switch {
	case d.Status != 0:
		return d.Status
	case d.Outcome == timedOut:
		return http.StatusGatewayTimeout
	}
	return http.StatusBadGateway
}

func (d *Delivery) render() object {
	var action, installation, repo any
	if d.Action != "" {
		action = d.Action
	}
	if d.InstallationID != 0 {
		installation = d.InstallationID
	}
	if d.RepositoryID != 0 {
		repo = d.RepositoryID
	}
	return object{
		"id": d.ID, "guid": d.GUID, "delivered_at": stamp(d.At), "redelivery": d.Redelivery, "duration": d.Duration.Seconds(), "status": d.Outcome,
		"status_code": d.code(), "event": d.Event, "action": action, "installation_id": installation, "repository_id": repo, "throttled_at": nil,
	}
}

// kept lists the deliveries that are not too old, by id. The lock must be held.
func (w *Webhook) kept() []*Delivery {
	all, since := w.deliveries, w.s.now().Add(-deliveryLife)
	n := slices.IndexFunc(all, func(d *Delivery) bool { return d.At.After(since) })
	if n < 0 {
		return nil
	}
	return all[n:]
}

// cursorMark starts every cursor. Clients must take cursors from the Link header and not
// build their own.
const cursorMark = "v1_"

// listDeliveries lists attempts, newest first. The cursor names the last one of the previous
// page.
func listDeliveries(c *call) *Response {
	q := c.req.URL.Query()
	status, refused := c.oneOf("status", "", "success", "failure")
	if refused != nil {
		return refused
	}
	before := int64(-1)
	if cursor := q.Get("cursor"); cursor != "" {
		id, marked := strings.CutPrefix(cursor, cursorMark)
		n, err := strconv.ParseInt(id, 10, 64)
		if !marked || err != nil {
			return refuse(http.StatusBadRequest, "Invalid cursor")
		}
		before = n
	}
	return c.locked(func() *Response {
		kept := c.s.Webhook.kept()
		if before >= 0 {
			n, _ := slices.BinarySearchFunc(kept, before, func(d *Delivery, id int64) int { return cmp.Compare(d.ID, id) })
			kept = kept[:n]
		}
		size := c.page().size
		shown := make([]object, 0, size)
		var last int64
		for _, d := range slices.Backward(kept) {
			if failed := d.code() >= 400; status == "success" && failed || status == "failure" && !failed {
				continue
			}
			if len(shown) == size {
				q.Set("cursor", cursorMark+strconv.FormatInt(last, 10))
				resp := ok(shown)
				resp.Header.Set("Link", "<"+c.self(q.Encode())+`>; rel="next"`)
				return resp
			}
			shown, last = append(shown, d.render()), d.ID
		}
		return ok(shown)
	})
}

func getDelivery(c *call) *Response {
	return c.locked(func() *Response {
		d := c.delivery()
		if d == nil {
			return notFound()
		}
		headers := object{}
		for k, v := range c.s.Webhook.header("", *d) {
			headers[k] = v[0]
		}
		return ok(d.render().with(object{
			"url":      c.s.Webhook.url,
			"request":  object{"headers": headers, "payload": json.RawMessage(d.Payload)},
			"response": object{"headers": object{}, "payload": orNil(d.Response)},
		}))
	})
}

// delivery finds the delivery that the path names. The lock must be held.
func (c *call) delivery() *Delivery {
	kept := c.s.Webhook.kept()
	n, found := slices.BinarySearchFunc(kept, c.number("delivery_id"), func(d *Delivery, id int64) int { return cmp.Compare(d.ID, id) })
	if !found {
		return nil
	}
	return kept[n]
}

func redeliver(c *call) *Response {
	return c.locked(func() *Response {
		d := c.delivery()
		if d == nil {
			return notFound()
		}
		c.s.Webhook.enqueue(queued{guid: d.GUID})
		return answer(http.StatusAccepted, object{})
	})
}
