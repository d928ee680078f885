package gh

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/reviewgate/reviewgate/pipeline/lru"
)

const (
	// maxTokens bounds the tokens that are kept for other processes. A token takes up to a
	// kilobyte.
	maxTokens = 1000
	// tokenMargin is how long a token must still be valid. ghinstallation renews a token
	// when this time is left.
	tokenMargin = time.Minute
)

// Token lets another process act for an installation as this one does. It is a secret.
type Token struct {
	Key     string // the client that it authenticates, as clientKey names it
	Token   string
	Expires time.Time // within the hour
}

// tokens holds a process's tokens, by the client that they authenticate.
type tokens struct {
	own *lru.Cache[string, Token] // tokens that GitHub gave to this process, to pass on
	// given holds tokens from another process until they are used. used holds them
	// afterwards: GitHub may have refused them since.
	given, used *lru.Cache[string, Token]
}

func newTokens() tokens {
	return tokens{newLRU[Token](maxTokens), newLRU[Token](maxTokens), newLRU[Token](maxTokens)}
}

// take returns a token from another process for a client, if it is valid for a while. It
// returns each token only once: a second request means that GitHub refused the token.
func (s tokens) take(key string, now time.Time) (Token, bool) {
	t, ok := s.given.Get(key)
	s.given.Remove(key)
	if before, again := s.used.Get(key); !ok || again && before.Token == t.Token || !now.Before(t.Expires.Add(-tokenMargin)) {
		return Token{}, false
	}
	s.used.Add(key, t, 1)
	return t, true
}

// forget drops a client's tokens.
func (s tokens) forget(key string) {
	if t, ok := s.given.Get(key); ok {
		s.used.Add(key, t, 1)
		s.given.Remove(key)
	}
	s.own.Remove(key)
}

// errHeld ends a request that was made only to get its token.
var errHeld = errors.New("the request is not sent")

// tokenOf returns the answer that GitHub would give to a request for the token.
func tokenOf(req *http.Request, t Token) *http.Response {
	text, _ := json.Marshal(tokenAnswer{t.Token, t.Expires}) // plain values: this can't fail
	return &http.Response{
		Status: "201 Created", StatusCode: http.StatusCreated, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json"}}, Request: req,
		Body: io.NopCloser(bytes.NewReader(text)), ContentLength: int64(len(text)),
	}
}
