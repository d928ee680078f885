package ghtest

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// Delivery is one attempt to deliver an event to the App.
type Delivery struct {
	ID             int64
	GUID           string // the same for every attempt at an event
	Event          string
	Action         string
	InstallationID int64
	RepositoryID   int64
	Redelivery     bool
	Payload        []byte
	At             time.Time
	Duration       time.Duration
	// Status is the HTTP status of the answer, 0 if there was none, and
	// Outcome GitHub's word for it ("OK", "failed to connect to host"). The
	// delivery log shows 502 or 504 where there was no answer.
	Status   int
	Outcome  string
	Response string // first 64 KiB of the answer's body
}

// OK reports whether the App accepted the event.
func (d Delivery) OK() bool { return d.Status >= 200 && d.Status < 300 }

// event is an event for the App. The zero event is not sent.
type event struct {
	name, action string
	installation *installation
	repo         *Repo
	payload      object
	err          error // why the payload could not be written
}

// queued is an event that the App's own call caused, to be sent after the
// answer to that call.
type queued struct {
	event event
	guid  string // of the delivery to repeat, if it is one
}

// unasked are the events that GitHub sends to an App without subscription.
var unasked = []string{"check_run rerequested", "check_run requested_action", "check_suite requested", "check_suite rerequested"}

// Webhook delivers events to the App, and logs the deliveries. The Server's lock guards its
// fields.
type Webhook struct {
	s           *Server
	client      *http.Client
	url, secret string
	settings    HookSettings

	deliveries []*Delivery          // by id
	byGUID     map[string]*Delivery // the first attempt at each event
	queue      []queued
	sending    int
	withheld   map[string]bool // names of events
}

// HookSettings are the settings of the App's webhook apart from its address.
type HookSettings struct {
	ContentType string // "json", the default, or "form"
	InsecureSSL bool   // certificates are not checked
}

func newWebhook(s *Server) *Webhook {
	return &Webhook{
		s: s, client: newHookClient(s.opts.WebhookTimeout), url: s.opts.WebhookURL, secret: s.opts.WebhookSecret,
		byGUID: map[string]*Delivery{}, withheld: map[string]bool{},
	}
}

// wanted reports whether the App gets the event. The lock must be held.
func (w *Webhook) wanted(e event) bool {
	switch e.name {
	case "":
		return false
	case "installation", "installation_repositories", "ping":
		return true
	}
	if e.installation == nil || !e.installation.suspendedAt.IsZero() {
		return false
	}
	return slices.Contains(unasked, e.name+" "+e.action) || slices.Contains(w.s.opts.Events, e.name)
}

// Set sets where events are sent and the secret that signs them.
func (w *Webhook) Set(url, secret string) {
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	w.url, w.secret = url, secret
}

// SetSettings sets the webhook's settings.
func (w *Webhook) SetSettings(h HookSettings) {
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	w.settings = h
}

// HangUp closes the connections to the webhook that carry no delivery. A server that shuts
// down waits 5 s for connections that never carried one.
func (w *Webhook) HangUp() { w.client.CloseIdleConnections() }

// Withhold does not send events with these names, or any events if no name is given, until
// Resume. They are recorded as failed deliveries, as if the App's host were down.
func (w *Webhook) Withhold(events ...string) {
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	if len(events) == 0 {
		events = []string{"*"}
	}
	for _, name := range events {
		w.withheld[name] = true
	}
}

// Resume ends Withhold. Withheld events are not sent; see Redeliver.
func (w *Webhook) Resume() {
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	clear(w.withheld)
}

// Ping sends the ping event that a new App gets.
func (w *Webhook) Ping() Delivery {
	w.s.mu.Lock()
	e := event{name: "ping", payload: w.s.render.pingPayload()}
	w.s.mu.Unlock()
	return w.send(e)
}

// Send delivers any event with any payload, signed, for events without a method of the
// stand-in.
func (w *Webhook) Send(name, action string, payload map[string]any) Delivery {
	return w.send(event{name: name, action: action, payload: payload})
}

// deliver sends events one after the other, before it returns.
func (w *Webhook) deliver(events ...event) {
	for _, e := range events {
		if e.err != nil {
			w.s.opts.Fail("event %s %s: %v", e.name, e.action, e.err)
			continue
		}
		w.s.mu.Lock()
		wanted := w.wanted(e)
		w.s.mu.Unlock()
		if wanted {
			w.send(e)
		}
	}
}

// happens makes a change with the lock held, and sends the events that it returns.
func (s *Server) happens(change func() []event) {
	s.mu.Lock()
	events := change()
	s.Webhook.sending++ // another goroutine may wait in Settle
	s.notify()
	s.mu.Unlock()
	s.Webhook.deliver(events...)
	s.Webhook.sent()
}

// impossible replaces the events if the object to be changed does not exist.
func impossible(format string, args ...any) []event {
	return []event{{err: fmt.Errorf(format, args...)}}
}

// enqueue sends an event in the background. The lock must be held.
func (w *Webhook) enqueue(q queued) {
	if q.guid != "" || w.wanted(q.event) {
		w.queue = append(w.queue, q)
		w.s.notify()
	}
}

// deliverQueued sends the queued events, in order, until the Server is closed.
func (w *Webhook) deliverQueued() {
	for {
		var next queued
		if w.s.WaitFor(w.s.ctx, func() bool { return w.dequeue(&next) }) != nil {
			return
		}
		if next.guid == "" {
			w.send(next.event)
		} else {
			// An unknown GUID was refused when it was asked for.
			_, _ = w.Redeliver(next.guid)
		}
		w.sent()
	}
}

// sent ends what was counted in sending.
func (w *Webhook) sent() {
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	w.sending--
	w.s.notify()
}

func (w *Webhook) dequeue(next *queued) bool {
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	if len(w.queue) == 0 {
		return false
	}
	*next, w.queue = w.queue[0], w.queue[1:]
	w.sending++
	return true
}

// Settle waits until the events of all changes so far have been delivered.
func (w *Webhook) Settle(ctx context.Context) error {
	return w.s.WaitFor(ctx, func() bool {
		w.s.mu.Lock()
		defer w.s.mu.Unlock()
		return len(w.queue) == 0 && w.sending == 0
	})
}

// Deliveries lists all attempts, oldest first.
func (w *Webhook) Deliveries() []Delivery {
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	list := make([]Delivery, len(w.deliveries))
	for i, d := range w.deliveries {
		list[i] = *d
	}
	return list
}

// LastDelivery returns the newest attempt at an event of the name, or the zero
// Delivery.
func (w *Webhook) LastDelivery(name string) Delivery {
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	for _, d := range slices.Backward(w.deliveries) {
		if d.Event == name {
			return *d
		}
	}
	return Delivery{}
}

// Redeliver sends an event again: the same payload under the same GUID.
func (w *Webhook) Redeliver(guid string) (Delivery, error) {
	w.s.mu.Lock()
	first := w.byGUID[guid]
	if first == nil {
		w.s.mu.Unlock()
		return Delivery{}, fmt.Errorf("redeliver %s: no such delivery", guid)
	}
	d := *first
	w.s.mu.Unlock()
	d.Redelivery = true
	return w.attempt(d), nil
}

// send makes the first attempt at an event.
func (w *Webhook) send(e event) Delivery {
	payload, err := marshal(e.payload)
	if err != nil {
		w.s.opts.Fail("write the payload of %s: %v", e.name, err)
	}
	d := Delivery{GUID: newGUID(), Event: e.name, Action: e.action, Payload: payload}
	if e.installation != nil {
		d.InstallationID = e.installation.id
	}
	if e.repo != nil {
		d.RepositoryID = e.repo.id
	}
	return w.attempt(d)
}

// attempt sends a delivery and records its result.
func (w *Webhook) attempt(d Delivery) Delivery {
	w.s.mu.Lock()
	d.ID, d.At = w.s.state.nextID(), w.s.now()
	url, secret := w.url, w.secret
	if w.withheld["*"] || w.withheld[d.Event] {
		url = ""
	}
	w.s.mu.Unlock()

	start := time.Now()
	d.Status, d.Response, d.Outcome = w.post(url, secret, d)
	d.Duration = time.Since(start)

	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	w.record(&d)
	w.s.notify()
	return d
}

// record adds an attempt to the log, which is in the order in which the attempts started. An
// attempt may end before an earlier one. The lock must be held.
func (w *Webhook) record(d *Delivery) {
	log := w.deliveries
	at := len(log)
	for at > 0 && log[at-1].ID > d.ID {
		at--
	}
	w.deliveries = slices.Insert(log, at, d)
	if w.byGUID[d.GUID] == nil {
		w.byGUID[d.GUID] = d
	}
}

// GitHub's words for deliveries without an answer.
const (
	noHost   = "failed to connect to host"
	timedOut = "timed out"
)

// post sends a delivery as GitHub does.
func (w *Webhook) post(url, secret string, d Delivery) (status int, body, outcome string) {
	if url == "" {
		return 0, "", noHost
	}
	req, err := http.NewRequestWithContext(w.s.ctx, http.MethodPost, url, bytes.NewReader(d.Payload))
	if err != nil {
		return 0, "", err.Error()
	}
	req.Header = w.header(secret, d)
	resp, err := w.client.Do(req)
	if err != nil {
		if timeout, ok := errors.AsType[interface {
			error
			Timeout() bool
		}](err); ok && timeout.Timeout() {
			return 0, "", timedOut
		}
		return 0, "", noHost
	}
	defer resp.Body.Close()
	// An answer counts even if its body can't be read.
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	outcome = "OK"
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		outcome = fmt.Sprintf("Invalid HTTP Response: %d", resp.StatusCode)
	}
	return resp.StatusCode, string(text), outcome
}

func (w *Webhook) header(secret string, d Delivery) http.Header {
	h := http.Header{}
	h.Set("Accept", "*/*")
	h.Set("Content-Type", "application/json")
	h.Set("User-Agent", "GitHub-Hookshot/0c1d2e3")
	h.Set("X-GitHub-Delivery", d.GUID)
	h.Set("X-GitHub-Event", d.Event)
	h.Set("X-GitHub-Hook-ID", "1")
	h.Set("X-GitHub-Hook-Installation-Target-ID", strconv.FormatInt(w.s.AppID(), 10))
	h.Set("X-GitHub-Hook-Installation-Target-Type", "integration")
	if secret != "" {
		h.Set("X-Hub-Signature", "sha1="+sign(sha1.New, secret, d.Payload))
		h.Set("X-Hub-Signature-256", "sha256="+sign(sha256.New, secret, d.Payload))
	}
	return h
}

func sign(algorithm func() hash.Hash, secret string, payload []byte) string {
	mac := hmac.New(algorithm, []byte(secret))
	mac.Write(payload)
	return hex.EncodeToString(mac.Sum(nil))
}

// getHookConfig returns the App's webhook without its secret.
func getHookConfig(c *call) *Response {
	return c.locked(func() *Response {
		w := c.s.Webhook
		if w.url == "" {
			return refuse(http.StatusNotFound, "Not Found")
		}
		content, insecure := "json", "0"
		if w.settings.ContentType != "" {
			content = w.settings.ContentType
		}
		if w.settings.InsecureSSL {
			insecure = "1"
		}
		o := object{"url": w.url, "content_type": content, "insecure_ssl": insecure}
		if w.secret != "" {
			o["secret"] = "********"
		}
		return ok(o)
	})
}

// newHookClient returns the client that delivers. It follows no redirect.
func newHookClient(timeout time.Duration) *http.Client {
	transport := &http.Transport{MaxIdleConnsPerHost: 64}
	return &http.Client{Timeout: timeout, Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// newGUID makes a random UUID, version 4.
func newGUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// marshal writes JSON as GitHub does, without escaping HTML.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
