package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/sessions"
)

// trustFor is how long a valid token is trusted without another look. A revoked token stops working
// within this time.
const trustFor = 5 * time.Second

// principal is the sender of a request with a token.
type principal struct {
	repo  ports.Target // without a number
	agent string
	pull  int   // the only pull request that the token is for; 0 means any of the repository
	token int64 // the API token's id; 0 if it is a token of GitHub Actions
}

// seen is a token that was valid when it was last looked up.
type seen struct {
	who     principal
	until   time.Time // when it is looked up again
	expires time.Time // zero means never
	quota   *quota
}

type tokenHash = [sha256.Size]byte

// isKnown reports whether a request has a token that was valid before, or, if it answers a reviewer's
// request, the token of that request. This needs neither the database nor the network.
func (a *API) isKnown(r *http.Request) bool {
	token, p := bearer(r.Header)
	if p != nil {
		return false
	}
	if id := r.PathValue("id"); id != "" {
		return a.isOf(id, token)
	}
	_, ok := a.seen.Get(sha256.Sum256([]byte(token)))
	return ok
}

// authenticate identifies the sender of a request by its token, and uses up one request of the sender's
// quota. Once the quota is known, the request counts as authenticated, even if it is refused.
func (a *API) authenticate(x *exchange) *Problem {
	token, p := bearer(x.r.Header)
	if p != nil {
		return p
	}
	now := a.Now()
	hash := sha256.Sum256([]byte(token))
	s, ok := a.seen.Get(hash)
	if ok {
		x.authenticated = true
		if p := s.quota.take(x.r.Method, now); p != nil {
			x.who = s.who
			return p
		}
		if now.Before(s.until) && (s.expires.IsZero() || now.Before(s.expires)) {
			x.who, x.quota = s.who, s.quota
			return nil
		}
	}
	fresh, p := a.lookUp(x, token, hash)
	if p != nil {
		if p.Status == http.StatusUnauthorized || p.Status == http.StatusForbidden {
			x.authenticated = false
			a.seen.Remove(hash)
		}
		return p
	}
	if ok {
		fresh.quota = s.quota
	} else if p := fresh.quota.take(x.r.Method, now); p != nil {
		x.authenticated, x.who = true, fresh.who
		return p
	}
	fresh.until = now.Add(trustFor)
	a.seen.Add(hash, fresh, 1)
	x.authenticated, x.who, x.quota = true, fresh.who, fresh.quota
	return nil
}

// lookUp verifies a token.
func (a *API) lookUp(x *exchange, token string, hash tokenHash) (seen, *Problem) {
	switch {
	case isToken(token):
		return a.lookUpToken(x, hash)
	case strings.HasPrefix(token, tokenPrefix):
		return seen{}, unauthorized("The token is incomplete or has a typo. Copy all of it.")
	case !isJWT(token):
		return seen{}, unauthorized("The token is neither an API token nor one of GitHub Actions. Create an API token with reviewgate token create.")
	}
	return a.lookUpWorkflow(x, token)
}

func (a *API) lookUpToken(x *exchange, hash tokenHash) (seen, *Problem) {
	var t ports.APIToken
	p := a.work(x, func(ctx context.Context) (err error) {
		t, err = a.Tokens.TokenByHash(ctx, hash[:])
		return err
	})
	now := a.Now()
	switch {
	case p != nil && p.Status == http.StatusNotFound:
		return seen{}, unauthorized("The token is not known to this server. Create one with reviewgate token create.")
	case p != nil:
		return seen{}, p
	case !t.RevokedAt.IsZero():
		return seen{}, unauthorized("The token was revoked. Create a new one with reviewgate token create.")
	case !t.ExpiresAt.IsZero() && !now.Before(t.ExpiresAt):
		return seen{}, unauthorized("The token has expired. Create a new one with reviewgate token create.")
	}
	if now.Sub(t.UsedAt) >= time.Hour {
		// The request succeeds even if this fails.
		a.work(x, func(ctx context.Context) error { return a.Tokens.UseToken(ctx, t.ID, now) })
	}
	t.Repository.Kind = ports.TargetPull
	return seen{
		who:     principal{repo: t.Repository, agent: t.Agent, token: t.ID},
		expires: t.ExpiresAt, quota: a.quotaOf("token " + hex.EncodeToString(hash[:])),
	}, nil
}

// quotaOf returns the quota of a subject.
func (a *API) quotaOf(subject string) *quota {
	a.quotaMu.Lock()
	defer a.quotaMu.Unlock()
	q, ok := a.quotas.Get(subject)
	if !ok {
		q = newQuota()
		a.quotas.Add(subject, q, 1)
	}
	return q
}

// lookUpWorkflow verifies a token of GitHub Actions.
func (a *API) lookUpWorkflow(x *exchange, token string) (seen, *Problem) {
	c, p := a.workflows.verify(x.r.Context(), token, a.Now())
	if p != nil {
		return seen{}, p
	}
	var repo ports.Target
	p = a.work(x, func(ctx context.Context) (err error) {
		repo, err = a.Sessions.Repository(ctx, c.owner, c.name)
		return err
	})
	if p != nil && p.Status == http.StatusNotFound || p == nil && repo.RepoID != c.repoID {
		return seen{}, kindForbids.problem(http.StatusForbidden, "The App is not installed on the repository of this workflow. Install it there first.")
	}
	if p != nil {
		return seen{}, p
	}
	repo.Number, repo.HeadSHA, repo.Kind = 0, "", ports.TargetPull
	return seen{
		who:     principal{repo: repo, agent: c.workflow, pull: c.pull},
		expires: c.expires, quota: a.quotaOf(fmt.Sprintf("workflow %d %s", c.repoID, c.workflow)),
	}, nil
}

// work does something that uses the database or GitHub, if a slot is free. Errors become problems.
func (a *API) work(x *exchange, do func(context.Context) error) *Problem {
	if !a.slots.take() {
		return busy()
	}
	defer a.slots.give()
	ctx, cancel := context.WithTimeout(x.r.Context(), maxWorking)
	defer cancel()
	err := do(ctx)
	if err == nil {
		return nil
	}
	return a.problemOf(x, err)
}

// problemOf turns an error of a use case into a problem for the client.
func (a *API) problemOf(x *exchange, err error) *Problem {
	var host *ports.HostError
	var wrong *sessions.InvalidError
	switch {
	case errors.Is(err, ports.ErrNotFound):
		return plain(http.StatusNotFound, "There is no such thing.")
	case errors.Is(err, ports.ErrTargetClosed):
		return kindClosed.problem(http.StatusConflict, "The pull request is closed, so nobody reviews it. Reopen it, and send the event again.")
	case errors.Is(err, ports.ErrOtherEvent):
		return kindOther.problem(http.StatusConflict, "Another event has this id: its kind, summary or pull request differs. Send this event with a new id.")
	case errors.Is(err, ports.ErrManyEvents):
		return kindMany.problem(http.StatusTooManyRequests, "%d events already wait for the next review cycle. Wait until the running cycle is decided, and send the event again.", ports.MaxSessionWaiting).after(time.Minute)
	case errors.Is(err, sessions.ErrSecret):
		return plain(http.StatusUnprocessableEntity, "The event's id or the agent's name looks like a secret. Choose another one. If it is a secret, replace that, too.")
	case errors.Is(err, sessions.ErrSwitchedOff):
		return kindOff.problem(http.StatusConflict, "The repository's config switches reviewgate off, so nobody reviews the pull request. Ask the repository's maintainers.")
	case errors.As(err, &wrong):
		return invalid(http.StatusUnprocessableEntity, mistakesOf(wrong.Errors))
	case errors.As(err, &host) && host.Kind == ports.HostNotFound:
		return plain(http.StatusNotFound, "There is no such thing.")
	}
	x.cause = err
	switch {
	case host != nil:
		p := kindLater.problem(http.StatusServiceUnavailable, "GitHub does not let the App do this now. Send the same request again after the time in Retry-After.")
		return p.after(max(10*time.Second, min(host.RetryAfter, time.Hour)))
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return kindLater.problem(http.StatusServiceUnavailable, "The server could not do this in time. Send the same request again; that is safe.").after(10 * time.Second)
	}
	return failed()
}
