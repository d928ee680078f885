package webhook

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
)

// dispatchEvent is what a coding agent says about a pull request. GitHub accepts it only from senders
// with write permission.
type dispatchEvent struct {
	envelope
	// Payload is what the sender chose; see said.
	Payload json.RawMessage `json:"client_payload"`
}

// said is the client_payload of an event of a session.
type said struct {
	ID         string   `json:"id"`
	Pull       int      `json:"pr"`
	Agent      string   `json:"agent"`
	Summary    string   `json:"summary"`
	Files      []string `json:"files"`
	FocusAreas []string `json:"focus_areas"`
	MaxWords   int      `json:"max_words"`
}

// read accepts an event of a session. The sender of a repository_dispatch chooses its type freely, so
// other types are not for us.
func (e *dispatchEvent) read(d *ports.Delivery, _ int64) error {
	kind := pipeline.SessionTrigger(e.Action)
	switch kind {
	case pipeline.TriggerMilestone, pipeline.TriggerBlocker, pipeline.TriggerRequestReview:
	default:
		return nil
	}
	var c said
	if err := decode(e.Payload, &c); err != nil {
		return fmt.Errorf("client_payload: %w", err)
	}
	t, err := e.target()
	t.Kind, t.Number = ports.TargetPull, c.Pull
	if c.ID == "" {
		c.ID = d.GUID // unique, too
	}
	err = errors.Join(err,
		positive("client_payload.pr", int64(c.Pull)),
		c.check(),
	)
	if err != nil {
		return err
	}
	d.Asks = append(d.Asks, ports.EventNews{Event: ports.SessionEvent{
		ID: c.ID, Kind: kind, Target: t, Agent: c.Agent, Summary: c.Summary, Files: c.Files, FocusAreas: c.FocusAreas, MaxWords: c.MaxWords,
	}})
	return nil
}

// check returns everything that is wrong with the payload.
func (c *said) check() error {
	var errs []error
	for _, name := range [][2]string{{"id", c.ID}, {"agent", c.Agent}} {
		if !ports.IsSessionName(name[1]) {
			errs = append(errs, fmt.Errorf("client_payload.%s is missing or malformed", name[0]))
		}
	}
	bad := func(s string) bool { return s == "" || !ports.IsSessionText(s, false) }
	if c.Summary == "" || !ports.IsSessionText(c.Summary, true) || slices.ContainsFunc(slices.Concat(c.Files, c.FocusAreas), bad) {
		errs = append(errs, errors.New("client_payload has a text that is empty or has control characters"))
	}
	for _, b := range []struct {
		field     string
		have, max int
	}{
		{"client_payload.summary", utf8.RuneCountInString(c.Summary), ports.MaxSessionSummary},
		{"client_payload.files", len(c.Files), ports.MaxSessionFiles},
		{"client_payload.files: a path", longest(c.Files), ports.MaxSessionPath},
		{"client_payload.focus_areas", len(c.FocusAreas), ports.MaxSessionFocus},
		{"client_payload.focus_areas: an area", longest(c.FocusAreas), ports.MaxSessionArea},
	} {
		if b.have > b.max {
			errs = append(errs, fmt.Errorf("%s is longer than the limit of %d", b.field, b.max))
		}
	}
	if c.MaxWords != 0 && (c.MaxWords < ports.MinSessionWords || c.MaxWords > ports.MaxSessionWords) {
		errs = append(errs, fmt.Errorf("client_payload.max_words is not between %d and %d", ports.MinSessionWords, ports.MaxSessionWords))
	}
	return errors.Join(errs...)
}

// longest returns the length of the longest text, in characters.
func longest(texts []string) (n int) {
	for _, s := range texts {
		n = max(n, utf8.RuneCountInString(s))
	}
	return n
}
