package gh

import (
	"context"
	"net/http"

	"github.com/reviewgate/reviewgate/app/ports"
)

// Tokens returns tokens for a process that works on t, so that the process does not have
// to request its own. Each request for a token counts five points of the App's 900 a
// minute. Tokens requests a token for the repository if it has none. If that fails, the
// process requests one itself, and reports the error.
func (c *api) Tokens(ctx context.Context, t ports.Target) []Token {
	r := request{op: "get a token", method: http.MethodGet, path: "/"}
	if r.check(t) != nil {
		return nil
	}
	_, _ = c.once(withCall(ctx, &call{
		route: "GET /", try: 1, target: t, inst: c.installation(t.Installation), app: c.installation(0), hold: true,
	}), t, r, nil) // never sent
	var tokens []Token
	for _, s := range []scope{asRepository, asOrganisation} {
		if token, ok := c.wire.tokens.own.Get(clientKey(s, t)); ok {
			tokens = append(tokens, token)
		}
	}
	return tokens
}

// Take stores tokens from another process. Each is used instead of the next request for a
// token of its kind, unless it expires soon.
func (c *api) Take(tokens []Token) {
	for _, t := range tokens {
		c.wire.tokens.given.Add(t.Key, t, 1)
	}
}
