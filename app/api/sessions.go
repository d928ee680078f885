package api

import (
	"context"
	"time"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/sessions"
)

// Sessions is what the API needs from the sessions of pull requests.
type Sessions interface {
	// Speak stores an event. The errors are ports.ErrNotFound if there is no such pull request,
	// ports.ErrTargetClosed, ports.ErrManyEvents, ports.ErrOtherEvent, sessions.ErrSwitchedOff, and
	// *ports.HostError.
	Speak(ctx context.Context, e ports.SessionEvent) (ports.Spoken, error)
	// State returns the state of a pull request's session, or ports.ErrNotFound. The target has a
	// number and no head.
	State(ctx context.Context, t ports.Target) (sessions.State, error)
	// UnderWay reports whether the state is not settled. It reads much less than State.
	UnderWay(ctx context.Context, t ports.Target) (bool, error)
	// Answer accepts the answer to the request with an id. raw is not parsed yet. signature identifies
	// the answer's signature, and is empty if it came with the request's token. The errors are
	// ports.ErrNotFound if there is no such request, and *sessions.InvalidError.
	Answer(ctx context.Context, id string, raw []byte, signature string) (ports.AnswerOutcome, error)
	// Repository returns a repository on which the App is installed, by its owner and name in any
	// case. The target has no number. The errors are ports.ErrNotFound and *ports.HostError.
	Repository(ctx context.Context, owner, name string) (ports.Target, error)
}

// Tokens is what the API needs from the tokens of agents.
type Tokens interface {
	TokenByHash(ctx context.Context, hash []byte) (ports.APIToken, error)
	UseToken(ctx context.Context, id int64, at time.Time) error
}

var _ Tokens = ports.APITokens(nil)
