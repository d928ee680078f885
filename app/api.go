package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/reviewgate/reviewgate/app/api"
	"github.com/reviewgate/reviewgate/app/gh"
	"github.com/reviewgate/reviewgate/app/outbound"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/sessions"
	"github.com/reviewgate/reviewgate/pipeline/lru"
)

// buildAPI builds the API for agents and remote reviewers.
func (a *App) buildAPI() (err error) {
	a.api, err = api.New(api.Config{
		Sessions: &apiSessions{Keeper: a.service.Sessions, find: a.client.Find, found: lru.New[string, foundRepository](maxFound, 1)},
		Tokens:   a.store.APITokens, Verify: a.verifyAnswer,
		RequestToken: func(id string) string { return a.service.Sessions.Token(id) },
		PublicURL:    a.settings.PublicURL, Issuer: a.settings.OIDCIssuer, Log: a.options.Log, Observe: a.metrics.Request,
	})
	return err
}

// verifyAnswer checks the signature of a remote reviewer's answer; see api.Config.
func (a *App) verifyAnswer(ctx context.Context, id string, h http.Header, body []byte) (signatureKey string, err error) {
	secret, err := a.service.Sessions.Signer(ctx, id)
	if err != nil {
		return "", err
	}
	if err := outbound.Verify(secret, h, body, time.Now()); err != nil {
		return "", fmt.Errorf("%w: %w", api.ErrSignature, err)
	}
	return h.Get(outbound.SignatureHeader), nil
}

// apiSessions gives the API the sessions, and the repositories on which the App is installed.
type apiSessions struct {
	*sessions.Keeper
	find  func(ctx context.Context, owner, name string) (gh.Repository, error)
	found *lru.Cache[string, foundRepository]
}

var _ api.Sessions = (*apiSessions)(nil)

// foundRepository is GitHub's answer about a repository. err is ports.ErrNotFound or nil.
type foundRepository struct {
	target ports.Target
	err    error
	at     time.Time
}

// GitHub's answer about a repository is kept for foundFor. Anybody can get a token from GitHub for their
// own repository and ask about it here, so not every request may cause a call of GitHub.
const (
	foundFor = time.Minute
	maxFound = 1000
)

// Repository implements api.Sessions.
func (s *apiSessions) Repository(ctx context.Context, owner, name string) (ports.Target, error) {
	key := strings.ToLower(owner + "/" + name)
	if f, ok := s.found.Get(key); ok && time.Since(f.at) < foundFor {
		return f.target, f.err
	}
	r, err := s.find(ctx, owner, name)
	var host *ports.HostError
	switch {
	case errors.As(err, &host) && host.Kind == ports.HostNotFound, err == nil && r.Suspended:
		r.Target, err = ports.Target{}, ports.ErrNotFound
	case err != nil:
		return ports.Target{}, err
	}
	s.found.Add(key, foundRepository{r.Target, err, time.Now()}, 1)
	return r.Target, err
}
