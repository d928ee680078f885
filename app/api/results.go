package api

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/reviewgate/reviewgate/app/ports"
)

// Taken is the answer to a result.
type Taken struct {
	ID     string `json:"id"`     // of the request
	Result string `json:"result"` // stored or known
}

// answer accepts a reviewer's answer to a request.
func (a *API) answer(x *exchange) reply {
	id := x.r.PathValue("id")
	if !ports.IsSessionName(id) {
		return reply{problem: noRequest()}
	}
	var signature string
	hasToken := len(x.r.Header.Values("Authorization")) > 0
	if hasToken {
		if p := a.isAnswerer(x, id); p != nil {
			return reply{problem: p}
		}
	}
	bodies := a.unsigned
	if hasToken {
		bodies = a.bodies
	}
	text, p := x.body(bodies)
	if p != nil {
		return reply{problem: p}
	}
	if !hasToken {
		if signature, p = a.signed(x, id, text); p != nil {
			return reply{problem: p}
		}
	}
	x.authenticated = true
	if p := a.quotaOf("request "+id).take(x.r.Method, a.Now()); p != nil {
		return reply{problem: p}
	}
	var outcome ports.AnswerOutcome
	p = a.work(x, func(ctx context.Context) (err error) {
		outcome, err = a.Sessions.Answer(ctx, id, text, signature)
		return err
	})
	switch {
	case p != nil && p.Status == http.StatusNotFound:
		return reply{problem: noRequest()}
	case p != nil:
		if p.Status == http.StatusUnprocessableEntity && !json.Valid(text) {
			p.Status = http.StatusBadRequest
		}
		return reply{problem: p}
	}
	switch outcome {
	case ports.AnswerStored:
		return ok(http.StatusAccepted, Taken{id, "stored"})
	case ports.AnswerKnown:
		return ok(http.StatusOK, Taken{id, "known"})
	case ports.AnswerReplayed:
		return reply{problem: kindAnswered.problem(http.StatusConflict, "The signature was used for the answer to another request. Put the request's id into the answer, and sign that.")}
	}
	return reply{problem: kindAnswered.problem(http.StatusConflict, "The request already has another answer, and the first one counts.")}
}

func noRequest() *Problem {
	return plain(http.StatusNotFound, "There is no request with this id, or it was deleted. Check the results_url of the request.")
}

// isAnswerer checks that an answer has the token of its request.
func (a *API) isAnswerer(x *exchange, id string) *Problem {
	token, p := bearer(x.r.Header)
	if p != nil {
		return p
	}
	switch {
	case a.isOf(id, token):
		x.authenticated = true
		return nil
	case strings.HasPrefix(token, tokenPrefix) || isJWT(token):
		return kindForbids.problem(http.StatusForbidden, "Tokens of agents send events and read the state. An answer needs the token of its request, or the reviewer's signature.")
	}
	return unauthorized("The token does not belong to this request. Send the token that came with the request, or sign the answer.")
}

// isOf reports whether a token is that of a request. The hashes hide the length, too.
func (a *API) isOf(id, token string) bool {
	got, want := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(a.RequestToken(id)))
	return subtle.ConstantTimeCompare(got[:], want[:]) == 1
}

// signed checks the signature of an answer.
func (a *API) signed(x *exchange, id string, text []byte) (signatureKey string, p *Problem) {
	wrong := false
	p = a.work(x, func(ctx context.Context) (err error) {
		signatureKey, err = a.Verify(ctx, id, x.r.Header, text)
		if wrong = errors.Is(err, ErrSignature); wrong {
			return nil
		}
		return err
	})
	switch {
	case wrong:
		return "", unauthorized("The answer has neither the token of its request in Authorization nor a valid signature in X-Reviewgate-Timestamp and X-Reviewgate-Signature-256. Check the secret, the clock, and that the body was not changed after it was signed.")
	case p != nil && p.Status == http.StatusNotFound:
		return "", noRequest()
	}
	return signatureKey, p
}
