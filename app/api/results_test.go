package api

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/sessions"
	"github.com/reviewgate/reviewgate/pipeline/jsontree"
)

// An answer has the token of its request or the reviewer's signature. The use case learns which.
func TestAnswer(t *testing.T) {
	t.Parallel()
	w := start(t)
	var raw []string
	w.answer = func(id string, body []byte) (ports.AnswerOutcome, error) {
		raw = append(raw, id+" "+string(body))
		return ports.AnswerStored, nil
	}
	signed := map[string]string{"X-Signature": "good"}
	w.want(w.send(request{method: "POST", path: aResult, token: "token-of-r-9", body: `{"type": "review_result"}`}), http.StatusAccepted)
	w.want(w.send(request{method: "POST", path: aResult, body: `{"type": "review_result", "x": 1}`, header: signed}), http.StatusAccepted)
	w.want(w.send(request{method: "POST", path: "/api/v1/results/a%2Fb", token: "token-of-a/b", body: `x`}), http.StatusAccepted, `"id":"a/b"`)
	if want := []string{`r-9 {"type": "review_result"}`, `r-9 {"type": "review_result", "x": 1}`, "a/b x"}; !slices.Equal(raw, want) {
		t.Errorf("got %q", raw)
	}
	if want := []string{"", "key", ""}; !slices.Equal(w.answers, want) {
		t.Errorf("signatures %q", w.answers)
	}
}

// Answers with anything else are refused: another request's token, an agent's token, a wrong signature,
// and a signature beside a wrong token.
func TestAnswerIsRefused(t *testing.T) {
	t.Parallel()
	w := start(t)
	signed := map[string]string{"X-Signature": "good"}
	for name, one := range map[string]struct {
		request request
		status  int
		words   string
	}{
		"another request's token":  {request{token: "token-of-r-8"}, 401, "does not belong to this request"},
		"a wrong token and signed": {request{token: "token-of-r-8", header: signed}, 401, "does not belong to this request"},
		"an agent's token":         {request{token: w.token}, 403, "Tokens of agents"},
		"a part of one":            {request{token: w.token[:20]}, 403, "Tokens of agents"},
		"a wrong signature":        {request{header: map[string]string{"X-Signature": "bad"}}, 401, "nor a valid signature"},
		"no signature":             {request{}, 401, "nor a valid signature"},
		"no bearer":                {request{header: map[string]string{"Authorization": "token-of-r-9"}}, 401, "Bearer TOKEN"},
		"an invalid id":            {request{path: "/api/v1/results/a%20b", token: "token-of-a b"}, 404, "no request with this id"},
		"a long id":                {request{path: "/api/v1/results/" + strings.Repeat("x", 201), header: signed}, 404, "no request with this id"},
	} {
		q := one.request
		q.method, q.body = "POST", "{}"
		if q.path == "" {
			q.path = aResult
		}
		t.Log(name)
		w.want(w.send(q), one.status, one.words)
	}
	if len(w.answers) != 0 {
		t.Errorf("answered by %+v", w.answers)
	}
}

// A signature that can't be checked is not called wrong.
func TestSignatureCannotBeChecked(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.verify = func(string, []byte) (string, error) { return "", ports.ErrNotFound }
	w.want(w.send(request{method: "POST", path: aResult, body: "{}"}), http.StatusNotFound, "no request with this id")
	w.verify = func(string, []byte) (string, error) { return "", errors.New("the disk is gone") }
	w.want(w.send(request{method: "POST", path: aResult, body: "{}"}), http.StatusInternalServerError)
	if len(w.answers) != 0 {
		t.Errorf("answered by %+v", w.answers)
	}
}

// A request can't be answered too often, and only a limited number of signatures are checked.
func TestAnswersAreLimited(t *testing.T) {
	t.Parallel()
	clock := &clock{at: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	w := start(t, func(c *Config) { c.Now = clock.now })
	for range eventsAtOnce {
		w.want(w.send(request{method: "POST", path: aResult, token: "token-of-r-9", body: "{}"}), http.StatusAccepted)
	}
	w.want(w.send(request{method: "POST", path: aResult, token: "token-of-r-9", body: "{}"}), http.StatusTooManyRequests)
	w.want(w.send(request{method: "POST", path: "/api/v1/results/r-8", token: "token-of-r-8", body: "{}"}), http.StatusAccepted)
	checked := 0
	w.verify = func(string, []byte) (string, error) { checked++; return "", ErrSignature }
	for range strangeAtOnce + 5 {
		w.send(request{method: "POST", path: aResult, body: "{}"})
	}
	if checked != strangeAtOnce {
		t.Errorf("%d signatures were checked", checked)
	}
}

// An answer lists few mistakes, whatever the use case finds.
func TestMistakesOfAnAnswer(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.answer = func(string, []byte) (ports.AnswerOutcome, error) {
		root, _ := jsontree.Parse(&jsontree.Document{}, []byte(`{"payload": 1}`))
		return "", &sessions.InvalidError{Errors: slices.Repeat([]jsontree.Error{*root.Get("payload").Error("bad", "mend it")}, 50)}
	}
	w.want(w.send(request{method: "POST", path: aResult, token: "token-of-r-9", body: "{}"}), http.StatusUnprocessableEntity, "20 mistakes or more", `"pointer":"/payload","detail":"line 1, column 13: bad; mend it"`)
}
