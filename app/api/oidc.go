package api

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"

	"github.com/reviewgate/reviewgate/app/ports"
)

// The bounds of a workflow's token, and of reading the keys that verify it.
const (
	maxAge     = 10 * time.Minute // since the token was issued
	maxSkew    = time.Minute      // of the issuer's clock
	keysWithin = 10 * time.Second // to read the keys, and between two reads
	maxKeys    = 1 << 20          // bytes
	// maxVerifying is how many signatures are checked at the same time. A check may wait for
	// the keys.
	maxVerifying = 16
)

// workflows verifies the tokens of GitHub Actions. Nothing is read from the network for a token
// whose claims are wrong.
type workflows struct {
	issuer, audience string // if one is empty, no token is accepted
	client           *http.Client
	slots            slots // for tokens whose signature is being checked
	// reading lets one request at a time read the issuer's configuration, which says where the
	// keys are. keys is nil before that.
	reading chan struct{}
	keys    atomic.Pointer[oidc.RemoteKeySet]
}

func newWorkflows(issuer, audience string, transport http.RoundTripper, now func() time.Time) *workflows {
	w := &workflows{issuer: issuer, audience: audience, slots: make(slots, maxVerifying), reading: make(chan struct{}, 1)}
	w.client = &http.Client{
		Transport: &spaced{next: transport, now: now, last: map[string]time.Time{}},
		Timeout:   keysWithin,
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if r.URL.Host != via[0].URL.Host || r.URL.Scheme != via[0].URL.Scheme || len(via) > 3 {
				return fmt.Errorf("%w: the issuer redirects to another host, or too often", errNoKeys)
			}
			return nil
		},
	}
	return w
}

// claims are the checked claims of a workflow's token.
type claims struct {
	repoID      int64
	owner, name string
	pull        int
	workflow    string // its path
	expires     time.Time
}

// tokenClaims are the claims to read from a token.
type tokenClaims struct {
	Issuer       string   `json:"iss"`
	Audience     audience `json:"aud"`
	Subject      string   `json:"sub"`
	Expires      float64  `json:"exp"`
	NotBefore    float64  `json:"nbf"`
	Issued       float64  `json:"iat"`
	RepositoryID string   `json:"repository_id"`
	Repository   string   `json:"repository"`
	Event        string   `json:"event_name"`
	Ref          string   `json:"ref"`
	WorkflowRef  string   `json:"workflow_ref"`
}

// audience is a claim that is one text or a list of them.
type audience []string

func (a *audience) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		*a = audience{one}
		return nil
	}
	return json.Unmarshal(text, (*[]string)(a))
}

var (
	pullRef      = regexp.MustCompile(`^refs/pull/([1-9][0-9]{0,9})/merge$`)
	workflowPath = regexp.MustCompile(`^\.github/workflows/[^@]+\.ya?ml$`)
)

// verify checks a token of GitHub Actions.
func (w *workflows) verify(ctx context.Context, token string, now time.Time) (claims, *Problem) {
	if w.issuer == "" {
		return claims{}, unauthorized("This server accepts no tokens of GitHub Actions. Make a token with reviewgate token create.")
	}
	if w.audience == "" {
		return claims{}, unauthorized("This server accepts no tokens of GitHub Actions, because REVIEWGATE_PUBLIC_URL is not set. Make a token with reviewgate token create.")
	}
	c, p := w.check(token, now)
	if p != nil {
		return claims{}, p
	}
	if !w.slots.take() {
		return claims{}, busy()
	}
	defer w.slots.give()
	err := w.checkSignature(ctx, token, now)
	switch {
	case err == nil:
		return c, nil
	case errors.Is(err, errNoKeys):
		return claims{}, kindLater.problem(http.StatusServiceUnavailable, "The key that signed the token is not known, and the keys of GitHub Actions can't be read now. Send the request again after the time in Retry-After.").after(keysWithin)
	}
	return claims{}, unauthorized("The token's signature is not valid. Request a new token, and send all of it.")
}

// errNoKeys means that the keys could not be read, or were read so recently that they are not read
// again.
var errNoKeys = errors.New("the keys can't be read now")

// checkSignature returns an error that wraps errNoKeys if it needs keys that can't be read now.
func (w *workflows) checkSignature(ctx context.Context, token string, now time.Time) error {
	keys, err := w.keySet(ctx)
	if err != nil {
		return fmt.Errorf("%w: %w", errNoKeys, err)
	}
	k := keeper{keys: keys}
	verifier := oidc.NewVerifier(w.issuer, &k, &oidc.Config{
		ClientID: w.audience, SupportedSigningAlgs: []string{oidc.RS256}, Now: func() time.Time { return now },
	})
	if _, err = verifier.Verify(ctx, token); err != nil {
		return errors.Join(err, k.err)
	}
	return nil
}

// keeper keeps the error of a key set, because the verifier passes on only its text.
type keeper struct {
	keys oidc.KeySet
	err  error
}

func (k *keeper) VerifySignature(ctx context.Context, token string) (payload []byte, err error) {
	payload, k.err = k.keys.VerifySignature(ctx, token)
	return payload, k.err
}

// check checks everything about a token except its signature.
func (w *workflows) check(token string, now time.Time) (claims, *Problem) {
	parts := strings.Split(token, ".")
	var head struct {
		Algorithm string `json:"alg"`
		Key       string `json:"kid"`
	}
	var t tokenClaims
	if len(parts) != 3 || !decodePart(parts[0], &head) || !decodePart(parts[1], &t) {
		return claims{}, unauthorized("The token is not a JSON Web Token of GitHub Actions. Send all of it.")
	}
	at := func(seconds float64) time.Time { return time.Unix(int64(max(0, min(seconds, 1<<40))), 0) }
	switch {
	case head.Algorithm != oidc.RS256 || head.Key == "":
		return claims{}, unauthorized("The token is not signed with RS256 by a named key. Use one that GitHub Actions issued.")
	case t.Issuer != w.issuer:
		return claims{}, unauthorized("The token's issuer is not %s. Use one that GitHub Actions issued.", w.issuer)
	case !slices.Contains(t.Audience, w.audience):
		return claims{}, unauthorized("The token is for another audience. Request one for the audience %s.", w.audience)
	case at(t.Expires).Before(now):
		return claims{}, unauthorized("The token has expired. Request a new one.")
	case at(t.NotBefore).After(now.Add(maxSkew)), at(t.Issued).After(now.Add(maxSkew)):
		return claims{}, unauthorized("The token is not valid yet. Check the clocks of the server and of the issuer.")
	case at(t.Issued).Before(now.Add(-maxAge)):
		return claims{}, unauthorized("The token is older than %d minutes. Request a new one.", int(maxAge.Minutes()))
	case t.Subject == "":
		return claims{}, unauthorized("The token has no subject. Use one that GitHub Actions issued.")
	}
	return t.who(at(t.Expires))
}

// who reads the claims about the workflow.
func (t *tokenClaims) who(expires time.Time) (claims, *Problem) {
	forbid := func(detail string) (claims, *Problem) {
		return claims{}, kindForbids.problem(http.StatusForbidden, "%s", detail)
	}
	if t.Event != "pull_request" {
		return forbid("Only a workflow that runs on pull_request may use its token here. Others, such as pull_request_target and workflow_run, run with more rights than the change that they look at.")
	}
	c := claims{expires: expires}
	m := pullRef.FindStringSubmatch(t.Ref)
	if m == nil {
		return forbid("The token names no pull request: its ref is not refs/pull/NUMBER/merge. Request it in a workflow that runs on pull_request.")
	}
	var err error
	if c.pull, err = strconv.Atoi(m[1]); err != nil || c.pull > maxPull {
		return forbid("The token names no pull request. Request it in a workflow that runs on pull_request.")
	}
	if c.repoID, err = strconv.ParseInt(t.RepositoryID, 10, 64); err != nil || c.repoID <= 0 {
		return forbid("The token has no repository_id. Use one that GitHub Actions issued.")
	}
	if c.owner, c.name, _ = strings.Cut(t.Repository, "/"); !isRepository(c.owner, c.name) {
		return forbid("The token has no repository. Use one that GitHub Actions issued.")
	}
	path, ok := strings.CutPrefix(t.WorkflowRef, t.Repository+"/")
	path, _, _ = strings.Cut(path, "@")
	if !ok || !workflowPath.MatchString(path) || !ports.IsSessionName(path) {
		return forbid("The workflow's path can't be an agent's name. Give its file a name of letters, digits and . _ - in .github/workflows.")
	}
	c.workflow = path
	return c, nil
}

// decodePart decodes a part of a JSON Web Token.
func decodePart(part string, into any) bool {
	text, err := base64.RawURLEncoding.Strict().DecodeString(part)
	return err == nil && json.Unmarshal(text, into) == nil
}

// keySet returns the issuer's keys. It looks up their address only once.
func (w *workflows) keySet(ctx context.Context) (*oidc.RemoteKeySet, error) {
	if keys := w.keys.Load(); keys != nil {
		return keys, nil
	}
	select {
	case w.reading <- struct{}{}:
		defer func() { <-w.reading }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if keys := w.keys.Load(); keys != nil {
		return keys, nil
	}
	ctx = oidc.ClientContext(context.WithoutCancel(ctx), w.client) // others need the keys even if this client leaves
	provider, err := oidc.NewProvider(ctx, w.issuer)
	if err != nil {
		return nil, err
	}
	var found struct {
		Keys string `json:"jwks_uri"`
	}
	if err := provider.Claims(&found); err != nil {
		return nil, err
	}
	keys := oidc.NewRemoteKeySet(ctx, found.Keys)
	w.keys.Store(keys)
	return keys, nil
}

// spaced reads each URL at most once in keysWithin, whatever keys the tokens name. An answer that it
// can't read to the end is an error.
type spaced struct {
	next http.RoundTripper
	now  func() time.Time

	mu   sync.Mutex
	last map[string]time.Time
}

// RoundTrip implements http.RoundTripper. Its errors wrap errNoKeys.
func (s *spaced) RoundTrip(r *http.Request) (*http.Response, error) {
	if !s.mayRead(r.URL.String()) {
		return nil, fmt.Errorf("%w: they were read less than %s ago", errNoKeys, keysWithin)
	}
	resp, err := s.next.RoundTrip(r)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoKeys, err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxKeys+1))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoKeys, err)
	}
	if resp.StatusCode >= http.StatusBadRequest || len(text) > maxKeys {
		return nil, fmt.Errorf("%w: the issuer answered %s with %d bytes", errNoKeys, resp.Status, len(text))
	}
	resp.Body = io.NopCloser(bytes.NewReader(text))
	return resp, nil
}

func (s *spaced) mayRead(url string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	if last, ok := s.last[url]; ok && now.Sub(last) < keysWithin {
		return false
	}
	maps.DeleteFunc(s.last, func(_ string, at time.Time) bool { return now.Sub(at) >= keysWithin })
	s.last[url] = now
	return true
}
