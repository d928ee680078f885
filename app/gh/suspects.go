package gh

import (
	"context"
	"net/http"

	"github.com/reviewgate/reviewgate/app/ports"
)

// Tokens returns tokens for a process that works on t, so that it need not ask GitHub
// for its own: each request for one counts five points against the App's 900 a minute.
// It asks for the repository's if it has none. Where that fails the process can ask
// itself, and say what is wrong.
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
		if token, ok := c.wire.tokens.own.get(clientKey(s, t)); ok {
			tokens = append(tokens, token)
		}
	}
	return tokens
}

// Take has each of the tokens used the next time that GitHub would be asked for one like
// it, unless that is soon before it expires.
func (c *api) Take(tokens []Token) {
	for _, t := range tokens {
		c.wire.tokens.given.add(t.Key, t, 1)
	}
}
