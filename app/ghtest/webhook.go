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

// wanted reports whether the App gets the event. The lock must be held.
func (s *Server) wanted(e event) bool {
	switch e.name {
	case "":
		return false
	case "installation", "installation_repositories", "ping":
		return true
	}
	if e.installation == nil || !e.installation.suspendedAt.IsZero() {
		return false
	}
	return slices.Contains(unasked, e.name+" "+e.action) || slices.Contains(s.opts.Events, e.name)
}

// SetWebhook sets where events are sent and the secret that signs them.
func (s *Server) SetWebhook(url, secret string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.hookURL, s.state.hookSecret = url, secret
}

// HangUp closes the connections to the webhook that carry no delivery. A server that shuts
// down waits 5 s for connections that never carried one.
func (s *Server) HangUp() { s.client.CloseIdleConnections() }

// Withhold does not send events with these names, or any events if no name is given, until
// Resume. They are recorded as failed deliveries, as if the App's host were down.
func (s *Server) Withhold(events ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(events) == 0 {
		events = []string{"*"}
	}
	for _, name := range events {
		s.state.withheld[name] = true
	}
}

// Resume ends Withhold. Withheld events are not sent; see Redeliver.
func (s *Server) Resume() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.state.withheld)
}

// Ping sends the ping event that a new App gets.
func (s *Server) Ping() Delivery {
	s.mu.Lock()
	e := event{name: "ping", payload: s.pingPayload()}
	s.mu.Unlock()
	return s.send(e)
}

// Send delivers any event with any payload, signed, for events without a method of the
// stand-in.
func (s *Server) Send(name, action string, payload map[string]any) Delivery {
	return s.send(event{name: name, action: action, payload: payload})
}

// deliver sends events one after the other, before it returns.
func (s *Server) deliver(events ...event) {
	for _, e := range events {
		if e.err != nil {
			s.opts.Fail("event %s %s: %v", e.name, e.action, e.err)
			continue
		}
		s.mu.Lock()
		wanted := s.wanted(e)
		s.mu.Unlock()
		if wanted {
			s.send(e)
		}
	}
}

// happens makes a change with the lock held, and sends the events that it returns.
func (s *Server) happens(change func() []event) {
	s.mu.Lock()
	events := change()
	s.notify()
	s.mu.Unlock()
	s.deliver(events...)
}

// impossible replaces the events if the object to be changed does not exist.
func impossible(format string, args ...any) []event {
	return []event{{err: fmt.Errorf(format, args...)}}
}

// enqueue sends an event in the background. The lock must be held.
func (s *Server) enqueue(q queued) {
	if q.guid != "" || s.wanted(q.event) {
		s.state.queue = append(s.state.queue, q)
		s.notify()
	}
}

// deliverQueued sends the queued events, in order, until the Server is closed.
func (s *Server) deliverQueued() {
	for {
		var next queued
		if s.WaitFor(s.ctx, func() bool { return s.dequeue(&next) }) != nil {
			return
		}
		if next.guid == "" {
			s.send(next.event)
		} else {
			// An unknown GUID was refused when it was asked for.
			_, _ = s.Redeliver(next.guid)
		}
		s.mu.Lock()
		s.state.sending--
		s.notify()
		s.mu.Unlock()
	}
}

func (s *Server) dequeue(next *queued) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.state.queue) == 0 {
		return false
	}
	*next, s.state.queue = s.state.queue[0], s.state.queue[1:]
	s.state.sending++
	return true
}

// Settle waits until the events caused by the App's own calls have been
// delivered.
func (s *Server) Settle(ctx context.Context) error {
	return s.WaitFor(ctx, func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.state.queue) == 0 && s.state.sending == 0
	})
}

// Deliveries lists all attempts, oldest first.
func (s *Server) Deliveries() []Delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]Delivery, len(s.state.deliveries))
	for i, d := range s.state.deliveries {
		list[i] = *d
	}
	return list
}

// LastDelivery returns the newest attempt at an event of the name, or the zero
// Delivery.
func (s *Server) LastDelivery(name string) Delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range slices.Backward(s.state.deliveries) {
		if d.Event == name {
			return *d
		}
	}
	return Delivery{}
}

// Redeliver sends an event again: the same payload under the same GUID.
func (s *Server) Redeliver(guid string) (Delivery, error) {
	s.mu.Lock()
	first := s.state.byGUID[guid]
	if first == nil {
		s.mu.Unlock()
		return Delivery{}, fmt.Errorf("redeliver %s: no such delivery", guid)
	}
	d := *first
	s.mu.Unlock()
	d.Redelivery = true
	return s.attempt(d), nil
}

// send makes the first attempt at an event.
func (s *Server) send(e event) Delivery {
	payload, err := marshal(e.payload)
	if err != nil {
		s.opts.Fail("write the payload of %s: %v", e.name, err)
	}
	d := Delivery{GUID: newGUID(), Event: e.name, Action: e.action, Payload: payload}
	if e.installation != nil {
		d.InstallationID = e.installation.id
	}
	if e.repo != nil {
		d.RepositoryID = e.repo.id
	}
	return s.attempt(d)
}

// attempt sends a delivery and records its result.
func (s *Server) attempt(d Delivery) Delivery {
	s.mu.Lock()
	d.ID, d.At = s.state.nextID(), s.now()
	url, secret := s.state.hookURL, s.state.hookSecret
	if s.state.withheld["*"] || s.state.withheld[d.Event] {
		url = ""
	}
	s.mu.Unlock()

	start := time.Now()
	d.Status, d.Response, d.Outcome = s.post(url, secret, d)
	d.Duration = time.Since(start)

	s.mu.Lock()
	defer s.mu.Unlock()
	s.record(&d)
	s.notify()
	return d
}

// record adds an attempt to the log, which is in the order in which the attempts started. An
// attempt may end before an earlier one. The lock must be held.
func (s *Server) record(d *Delivery) {
	log := s.state.deliveries
	at := len(log)
	for at > 0 && log[at-1].ID > d.ID {
		at--
	}
	s.state.deliveries = slices.Insert(log, at, d)
	if s.state.byGUID[d.GUID] == nil {
		s.state.byGUID[d.GUID] = d
	}
}

// GitHub's words for deliveries without an answer.
const (
	noHost   = "failed to connect to host"
	timedOut = "timed out"
)

// post sends a delivery as GitHub does.
func (s *Server) post(url, secret string, d Delivery) (status int, body, outcome string) {
	if url == "" {
		return 0, "", noHost
	}
	req, err := http.NewRequestWithContext(s.ctx, http.MethodPost, url, bytes.NewReader(d.Payload))
	if err != nil {
		return 0, "", err.Error()
	}
	req.Header = s.hookHeader(secret, d)
	resp, err := s.client.Do(req)
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

func (s *Server) hookHeader(secret string, d Delivery) http.Header {
	h := http.Header{}
	h.Set("Accept", "*/*")
	h.Set("Content-Type", "application/json")
	h.Set("User-Agent", "GitHub-Hookshot/0c1d2e3")
	h.Set("X-GitHub-Delivery", d.GUID)
	h.Set("X-GitHub-Event", d.Event)
	h.Set("X-GitHub-Hook-ID", "1")
	h.Set("X-GitHub-Hook-Installation-Target-ID", strconv.FormatInt(s.AppID(), 10))
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
