package api

import (
	"context"
	"net/http"

	"github.com/reviewgate/reviewgate/app/ports"
)

// Accepted is the answer to an event.
type Accepted struct {
	ID        string `json:"id"`
	Cycle     int    `json:"cycle"`      // the cycle that the event belongs to, or will belong to
	Duplicate bool   `json:"duplicate"`  // the event was stored before
	StatusURL string `json:"status_url"` // where to read the state; only a path if the server has no public URL
}

// speak accepts an event.
func (a *API) speak(x *exchange) reply {
	if p := a.authenticate(x); p != nil {
		return reply{problem: p}
	}
	text, p := x.body(a.bodies)
	if p != nil {
		return reply{problem: p}
	}
	e, p := decodeEvent(text)
	if p != nil {
		return reply{problem: p}
	}
	if e.agent != "" && e.agent != x.who.agent {
		return reply{problem: kindForbids.problem(http.StatusForbidden, "The token is for the agent %s only. Leave agent out, or write that name.", x.who.agent)}
	}
	if x.who.pull != 0 {
		if e.pull != 0 && e.pull != x.who.pull {
			return reply{problem: kindForbids.problem(http.StatusForbidden, "The token is for pull request %d only. Leave pr out, or write that number.", x.who.pull)}
		}
		e.pull = x.who.pull
	}
	if e.pull == 0 {
		return reply{problem: invalid(http.StatusUnprocessableEntity, []Mistake{{Detail: `"pr" is missing; add the pull request's number`}})}
	}
	t := x.who.repo
	t.Number, x.pull = e.pull, e.pull
	var spoken ports.Spoken
	p = a.work(x, func(ctx context.Context) (err error) {
		spoken, err = a.Sessions.Speak(ctx, ports.SessionEvent{
			ID: e.id, Kind: e.kind, Target: t, Agent: x.who.agent, Summary: e.summary, Files: e.files,
			FocusAreas: e.focus, MaxWords: e.words,
		})
		return err
	})
	if p != nil {
		if p.Status == http.StatusNotFound {
			p = noPull()
		}
		return reply{problem: p}
	}
	return ok(http.StatusAccepted, Accepted{ID: e.id, Cycle: spoken.Cycle, Duplicate: spoken.Known, StatusURL: a.statusURL(t)})
}
