package gh

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"
)

const (
	// maxTokens bounds the tokens that are kept to be handed on. One takes up to a kilobyte.
	maxTokens = 1000
	// tokenMargin is how long a token must still be good for. ghinstallation asks for
	// another one as early.
	tokenMargin = time.Minute
)

// Token lets another process act for an installation as this one does. It is a secret.
type Token struct {
	Key     string // the client that it authenticates, as clientKey names it
	Token   string
	Expires time.Time // within the hour
}

// tokens are those of a process, by the client that they authenticate.
type tokens struct {
	own *lru[Token] // those that GitHub gave, to hand on
	// given are those that another process handed on, until they are used, and used are
	// those that were: GitHub may have refused them since.
	given, used *lru[Token]
}

func newTokens() tokens {
	return tokens{newLRU[Token](maxTokens), newLRU[Token](maxTokens), newLRU[Token](maxTokens)}
}

// take returns a token that was handed on for a client and is good for a while. Each is
// used once: the next time another one is wanted.
func (s tokens) take(key string, now time.Time) (Token, bool) {
	t, ok := s.given.get(key)
	s.given.remove(key)
	if before, again := s.used.get(key); !ok || again && before.Token == t.Token || !now.Before(t.Expires.Add(-tokenMargin)) {
		return Token{}, false
	}
	s.used.add(key, t, 1)
	return t, true
}

// forget drops a client's tokens.
func (s tokens) forget(key string) {
	if t, ok := s.given.get(key); ok {
		s.used.add(key, t, 1)
		s.given.remove(key)
	}
	s.own.remove(key)
}

// errHeld is how a request ends that was made for its token alone.
var errHeld = errors.New("the request is not sent")

// tokenOf returns what GitHub would answer to a request for the token.
func tokenOf(req *http.Request, t Token) *http.Response {
	text, _ := json.Marshal(tokenAnswer{t.Token, t.Expires}) // plain values: this can't fail
	return &http.Response{
		Status: "201 Created", StatusCode: http.StatusCreated, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json"}}, Request: req,
		Body: io.NopCloser(bytes.NewReader(text)), ContentLength: int64(len(text)),
	}
}
