package agents

import (
	"net/http"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/outbound"
	"github.com/reviewgate/reviewgate/pipeline"
)

// Only the reviewer that was asked can answer: with the token of the request, or with its signature of
// exactly this answer.
func TestForgedAnswers(t *testing.T) {
	t.Parallel()
	const others = "a secret of gemini alone"
	w := start(t, setup{reviewers: "codex gemini"}, func(w *apptest.World) { w.Secrets["gemini"] = others })
	w.reviewers["gemini"].signsWith(others)
	pr := w.change("Salt")
	w.speak(pr, "claude", pipeline.TriggerMilestone, "Hashes.")
	q, its := w.waitFor("codex", 1), w.waitFor("gemini", 1)
	token, _ := w.token("codex")
	workflow := newIssuer(t).workflow(w, pr, nil)
	body := result("codex", "approved", "Fine.")
	now := time.Now()
	bearer := func(token string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) }
	}
	by := func(key string, at time.Time, text string) func(*http.Request) {
		return func(r *http.Request) {
			r.Header.Del("Authorization")
			for name, values := range outbound.Sign([]byte(key), at, []byte(text)) {
				r.Header[name] = values
			}
		}
	}
	for _, x := range []struct {
		what   string
		to     request
		change func(*http.Request)
		status int
	}{
		{"the token of another request", q, bearer(its.ResultsToken), http.StatusUnauthorized},
		{"the token of another reviewer's request", its, bearer(q.ResultsToken), http.StatusUnauthorized},
		{"an unknown token", q, bearer("x"), http.StatusUnauthorized},
		{"the id as a token", q, bearer(q.ID), http.StatusUnauthorized},
		{"an API token", q, bearer(token), http.StatusForbidden},
		{"a workflow's token", q, bearer(workflow), http.StatusForbidden},
		{"a token, and a valid signature", q, func(r *http.Request) { by(secret, now, body)(r); bearer(token)(r) }, http.StatusForbidden},
		{"two tokens", q, func(r *http.Request) { r.Header.Add("Authorization", "Bearer "+q.ResultsToken) }, http.StatusUnauthorized},
		{"no token", q, func(r *http.Request) { r.Header.Del("Authorization") }, http.StatusUnauthorized},
		{"another reviewer's signature", q, by(others, now, body), http.StatusUnauthorized},
		{"the signature of another body", q, by(secret, now, result("codex", "blocker", "Stop.")), http.StatusUnauthorized},
		{"a signature from 6 minutes ago", q, by(secret, now.Add(-6*time.Minute), body), http.StatusUnauthorized},
		{"a signature from 6 minutes ahead", q, by(secret, now.Add(6*time.Minute), body), http.StatusUnauthorized},
		{"a signature whose time was changed", q, func(r *http.Request) {
			by(secret, now.Add(-time.Hour), body)(r)
			r.Header.Set(outbound.TimestampHeader, outbound.Sign([]byte(secret), now, nil).Get(outbound.TimestampHeader))
		}, http.StatusUnauthorized},
		{"two signatures", q, func(r *http.Request) {
			by(secret, now, body)(r)
			r.Header.Add(outbound.SignatureHeader, r.Header.Get(outbound.SignatureHeader))
		}, http.StatusUnauthorized},
		{"codex's answer to the request to gemini", its, nil, http.StatusUnprocessableEntity},
		{"an unknown request", request{ResultsURL: apptest.PublicURL + "/api/v1/results/none", ResultsToken: q.ResultsToken}, nil, http.StatusUnauthorized},
		{"an unknown request, signed", request{ResultsURL: apptest.PublicURL + "/api/v1/results/none"}, by(secret, now, body), http.StatusNotFound},
	} {
		if status, text := w.answer(x.to, body, x.change); status != x.status {
			t.Errorf("%s: %d %s, want %d", x.what, status, text, x.status)
		}
	}
	w.Idle()
	if s := w.state(pr); s.Settled || s.Rule != nil || s.Reviewers[0].State != "waiting" || s.Reviewers[1].State != "waiting" {
		t.Fatalf("a forged answer counts: %+v", s)
	}
	// A reviewer's clock may be wrong by 4 minutes.
	if status, text := w.answer(q, body, by(secret, now.Add(-4*time.Minute), body)); status != http.StatusAccepted {
		t.Errorf("signed: %d %s", status, text)
	}
	its2 := result("gemini", "approved", "Fine.")
	if status, text := w.answer(its, its2, by(others, now.Add(4*time.Minute), its2)); status != http.StatusAccepted {
		t.Errorf("signed: %d %s", status, text)
	}
	w.wants(pr, "RUNNING", 4, "success")
}

// Whoever has seen a signed answer can send it again to the same request, but not to another one.
func TestReplayedAnswers(t *testing.T) {
	t.Parallel()
	w := start(t, setup{reviewers: "codex"})
	one, two := w.change("Salt"), w.change("Pepper")
	w.speak(one, "claude", pipeline.TriggerMilestone, "Hashes.")
	first := w.waitFor("codex", 1)
	w.speak(two, "claude", pipeline.TriggerMilestone, "Hashes.")
	second := w.waitFor("codex", 2)
	body := result("codex", "approved", "Fine.")
	sign := signed(body, time.Now())
	for i, x := range []struct {
		to     request
		status int
	}{{first, http.StatusAccepted}, {second, http.StatusConflict}, {first, http.StatusOK}, {second, http.StatusConflict}} {
		if status, text := w.answer(x.to, body, sign); status != x.status {
			t.Errorf("%d: %d %s, want %d", i+1, status, text, x.status)
		}
	}
	w.wants(one, "RUNNING", 4, "success")
	w.Idle()
	if s := w.state(two); s.Settled || s.Rule != nil {
		t.Errorf("a replayed answer counts: %+v", s)
	}
	if status, text := w.answer(second, body, signed(body, time.Now().Add(-time.Minute))); status != http.StatusAccepted {
		t.Errorf("signed for itself: %d %s", status, text)
	}
	w.wants(two, "RUNNING", 4, "success")
}

// A clarification request takes no answer.
func TestNoAnswerToAClarification(t *testing.T) {
	t.Parallel()
	w := start(t, setup{reviewers: "codex gemini"})
	w.reviewers["codex"].says("concerns", "There is no salt.")
	w.reviewers["gemini"].says("concerns", "There is no test.")
	pr := w.change("Salt")
	w.speak(pr, "claude", pipeline.TriggerMilestone, "Hashes.")
	w.wants(pr, "PAUSED", 2, "action_required")
	c := w.reviewers["codex"].got("clarification_request")
	if len(c) != 1 || c[0].ResultsURL != "" || c[0].ResultsToken != "" {
		t.Fatalf("%+v", c)
	}
	body := result("codex", "approved", "Fine.")
	to := request{ResultsURL: apptest.PublicURL + "/api/v1/results/" + c[0].ID, ResultsToken: w.App.Inside().Service.Sessions.Token(c[0].ID)}
	if status, text := w.answer(to, body, nil); status != http.StatusNotFound {
		t.Errorf("by a token: %d %s", status, text)
	}
	if status, text := w.answer(to, body, signed(body, time.Now())); status != http.StatusNotFound {
		t.Errorf("signed: %d %s", status, text)
	}
	w.wants(pr, "PAUSED", 2, "action_required")
}
