package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"regexp"
	"runtime/debug"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app/ports"
)

// MaxBody is GitHub's own limit for a payload: GitHub sends no larger ones.
const MaxBody = 25 << 20

// Config holds the settings of a handler.
type Config struct {
	// Secrets are the webhook's secrets. A delivery may be signed with any of them,
	// so that a secret can be rotated. At least one is needed, and none may be empty.
	Secrets [][]byte
	// AppID is our GitHub App's id. It tells our check runs from other Apps'.
	AppID int64
	// Accept stores the delivery. When it returns without an error, what the
	// delivery asks for is durable.
	Accept func(context.Context, ports.Delivery) (ports.Accepted, error)
	Log    zerolog.Logger

	// MaxBody is the largest body in bytes. Default MaxBody.
	MaxBody int64
	// MaxReading is how many bytes bodies of more than 64 KB may take together.
	// Beyond that, bodies that arrive more slowly than 8 KB/s are closed, and others wait
	// and are refused after 5 s. Default 100 MB, and never less than one body of MaxBody.
	MaxReading int64
	// MaxStoring bounds how long storing a delivery may take. Default 8 s, which leaves 2 s
	// of the 10 s in which GitHub wants an answer, for reading the body and for the answer.
	MaxStoring time.Duration
	// Now is the clock. Default time.Now.
	Now func() time.Time
	// Observe, if set, is called after each request, with the delivery as far as it is
	// known, the target whose state it changed or "", the outcome and the duration. The
	// delivery's event is "" if the signature was not verified.
	Observe func(ctx context.Context, d ports.Delivery, target, outcome string, took time.Duration)
}

// Handler receives webhook deliveries.
type Handler struct {
	Config
	rooms rooms
}

// New returns the handler of the webhook's URL. It refuses settings that
// would accept unsigned deliveries.
func New(c Config) (*Handler, error) {
	if err := checkSecrets(c.Secrets); err != nil {
		return nil, err
	}
	if c.Accept == nil {
		return nil, errors.New("webhook: Accept is missing")
	}
	if c.MaxBody <= 0 {
		c.MaxBody = MaxBody
	}
	if c.MaxReading <= 0 {
		c.MaxReading = maxReading
	}
	if c.MaxStoring <= 0 {
		c.MaxStoring = maxStoring
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Handler{Config: c, rooms: rooms{small: newRoom(maxSmall), large: newRoom(max(c.MaxReading, c.MaxBody+1))}}, nil
}

// maxReason bounds the text of a refusal, in characters, since it may quote the payload.
const maxReason = 500

// The outcomes, as counted and logged.
const (
	outcomeAccepted  = "accepted"
	outcomeDuplicate = "duplicate"
	outcomeNoOp      = "no_op"
	outcomeRejected  = "rejected"
	outcomeFailed    = "failed"
)

// answer is the answer to a request.
type answer struct {
	status  int
	outcome string
	target  string // whose state was changed, if any
	message string // for a person, on refusal
}

func refuse(status int, message string) *answer {
	return &answer{status: status, outcome: outcomeRejected, message: message}
}

func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := h.Now()
	d := ports.Delivery{ReceivedAt: start}
	a := h.serve(w, r, &d)
	h.reply(w, a)
	h.record(r.Context(), d, a, h.Now().Sub(start))
}

func (h *Handler) serve(w http.ResponseWriter, r *http.Request, d *ports.Delivery) *answer {
	b := &body{rooms: h.rooms}
	defer b.release()
	if refused := h.authentic(w, r, b); refused != nil {
		return refused
	}
	if refused := deliveryHeaders(r.Header, d); refused != nil {
		return refused
	}
	if err := h.read(d, b.text); err != nil {
		return refuse(http.StatusBadRequest, recordable(strings.ReplaceAll(err.Error(), "\n", "; "), maxReason))
	}
	acc, err := h.store(r.Context(), *d)
	if err != nil {
		h.Log.Error().EmbedObject(d.About).Err(err).Str("delivery", d.GUID).Str("event", d.Event).Msg("could not store a delivery")
		return &answer{status: http.StatusServiceUnavailable, outcome: outcomeFailed, message: "the delivery could not be stored; deliver it again"}
	}
	return accepted(*d, acc)
}

// TakeIn accepts a delivery from GitHub's delivery log as if it had arrived. The payload
// needs no signature: it was read from GitHub.
func (h *Handler) TakeIn(ctx context.Context, a ports.HookAttempt, payload []byte) error {
	start := h.Now()
	d := ports.Delivery{GUID: a.GUID, Event: a.Event, ReceivedAt: start}
	if !eventName.MatchString(a.Event) || !deliveryID.MatchString(a.GUID) {
		return fmt.Errorf("%w: its event or id is malformed", ports.ErrRefused)
	}
	if err := h.read(&d, payload); err != nil {
		return fmt.Errorf("%w: %w", ports.ErrRefused, err)
	}
	acc, err := h.store(ctx, d)
	if err != nil {
		return err
	}
	h.record(ctx, d, accepted(d, acc), h.Now().Sub(start))
	return nil
}

// maxStoring is the default of Config.MaxStoring.
const maxStoring = 8 * time.Second

// store has the delivery stored. If the database hangs, the delivery counts as failed
// after MaxStoring. If it is stored later after all, a redelivery is a duplicate.
func (h *Handler) store(ctx context.Context, d ports.Delivery) (ports.Accepted, error) {
	ctx, cancel := context.WithTimeout(ctx, h.MaxStoring)
	defer cancel()
	type result struct {
		acc ports.Accepted
		err error
	}
	done := make(chan result, 1)
	go func() {
		var r result
		defer func() {
			if v := recover(); v != nil {
				r.err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
			}
			done <- r
		}()
		r.acc, r.err = h.Accept(ctx, d)
	}()
	select {
	case r := <-done:
		return r.acc, r.err
	case <-ctx.Done():
		return ports.Accepted{}, ctx.Err()
	}
}

func accepted(d ports.Delivery, acc ports.Accepted) *answer {
	a := &answer{status: http.StatusAccepted, outcome: outcomeAccepted, target: acc.Key}
	switch {
	case acc.Duplicate:
		a.outcome = outcomeDuplicate
	case acc.NoOp:
		a.outcome = outcomeNoOp
	}
	if d.Event == "ping" {
		a.status = http.StatusOK
	}
	return a
}

// authentic reads the body, and refuses it unless its signature proves that
// GitHub sent it.
func (h *Handler) authentic(w http.ResponseWriter, r *http.Request, b *body) *answer {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		return refuse(http.StatusMethodNotAllowed, "webhooks are sent by POST")
	}
	if t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || t != "application/json" {
		return refuse(http.StatusBadRequest, "the content type must be application/json; set it in the webhook's settings")
	}
	want, ok := parseSignature(r.Header.Values(signatureHeader))
	if !ok {
		return refuse(http.StatusUnauthorized, signatureHeader+" is missing or malformed; set a secret in the webhook's settings")
	}
	if r.ContentLength > h.MaxBody {
		return tooLarge()
	}
	if err := b.read(w, r, h.MaxBody); err != nil {
		return unread(err)
	}
	if !signedWithAny(h.Secrets, b.text, want) {
		return refuse(http.StatusUnauthorized, "the signature does not match; check that both sides have the same secret")
	}
	return nil
}

func unread(err error) *answer {
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return tooLarge()
	case errors.Is(err, errSlow):
		return refuse(http.StatusRequestTimeout, "the body came slower than 8 KB/s while others waited; deliver it again")
	case errors.Is(err, errBusy):
		return refuse(http.StatusServiceUnavailable, "too many large deliveries at once; deliver it again")
	}
	return refuse(http.StatusBadRequest, "the body ended early")
}

func tooLarge() *answer {
	return refuse(http.StatusRequestEntityTooLarge, "the body is larger than any that GitHub sends")
}

var (
	// GitHub sends UUIDs, but nothing depends on that.
	deliveryID = regexp.MustCompile(`^[0-9A-Za-z-]{1,64}$`)
	eventName  = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)
)

func deliveryHeaders(h http.Header, d *ports.Delivery) *answer {
	event, guid := h.Get("X-GitHub-Event"), h.Get("X-GitHub-Delivery")
	if !eventName.MatchString(event) {
		return refuse(http.StatusBadRequest, "X-GitHub-Event is missing or malformed")
	}
	if !deliveryID.MatchString(guid) {
		return refuse(http.StatusBadRequest, "X-GitHub-Delivery is missing or malformed")
	}
	d.Event, d.GUID = event, guid
	return nil
}

// reply writes the answer as one line of JSON.
func (h *Handler) reply(w http.ResponseWriter, a *answer) {
	body := struct {
		Status string `json:"status,omitempty"`
		Error  string `json:"error,omitempty"`
	}{Status: a.outcome, Error: a.message}
	if a.message != "" {
		body.Status = ""
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(a.status)
	// The status has been sent. If the client is gone, there is nothing left to do.
	_ = json.NewEncoder(w).Encode(body)
}

func (h *Handler) record(ctx context.Context, d ports.Delivery, a *answer, took time.Duration) {
	if h.Observe != nil {
		h.Observe(ctx, d, a.target, a.outcome, took)
	}
	level := zerolog.InfoLevel
	if a.outcome == outcomeRejected {
		level = zerolog.WarnLevel
	}
	h.Log.WithLevel(level).EmbedObject(d.About).
		Str("delivery", d.GUID).Str("event", d.Event).Str("action", d.Action).
		Int64("installation", d.Installation).Int64("repository", d.RepoID).
		Int("status", a.status).Str("outcome", a.outcome).Str("reason", a.message).
		Dur("took_ms", took).Msg("delivery")
}
