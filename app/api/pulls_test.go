package api

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/sessions"
)

// A token reads the pull requests of its repository, in any case of the name, and no others. For others,
// the answer is the same as for one that does not exist.
func TestState(t *testing.T) {
	t.Parallel()
	w := start(t)
	get := func(path string) *httptest.ResponseRecorder {
		t.Helper()
		return w.send(request{method: "GET", path: "/api/v1/pulls/" + path, token: w.token})
	}
	a := get("acme/shop/104")
	w.want(a, http.StatusOK, `"rule":2`, `"findings":[{"id":"7f3a"`)
	w.want(get("Acme/SHOP/104"), http.StatusOK)
	etag := a.Header().Get("ETag")
	again := w.send(request{method: "GET", path: aPull, token: w.token, header: map[string]string{"If-None-Match": `"x", W/` + etag}})
	w.want(again, http.StatusNotModified)
	w.want(w.send(request{method: "GET", path: aPull, token: w.token, header: map[string]string{"If-None-Match": `"x"`}}), http.StatusOK)
	w.state = func(_ context.Context, t ports.Target) (sessions.State, error) {
		if t.Number == 105 {
			return sessions.State{}, ports.ErrNotFound
		}
		return sessions.State{
			Repository: "acme/shop", Number: 1, Status: "RUNNING",
			Reasons: []string{}, Reviewers: []sessions.Reviewer{}, Concerns: []sessions.Concern{}, Findings: []sessions.Finding{},
		}, nil
	}
	none := get("acme/shop/105")
	w.want(none, http.StatusNotFound)
	for _, path := range []string{"acme/other/104", "globex/shop/104", "acme/shop/0", "acme/shop/-1", "acme/shop/+1", "acme/shop/01", "acme/shop/2147483648", "acme/shop/x", "acme/%2e%2e/1", "acme/sh%20op/1", "a%2Fb/shop/1"} {
		if other := get(path); other.Code != none.Code || other.Body.String() != none.Body.String() {
			t.Errorf("%s: %d %s, want %s", path, other.Code, other.Body, none.Body)
		}
	}
	w.want(get("acme/shop/1"), http.StatusOK, `"rule":null,"decided_sha":"","decided_cycle":0,"action":"","flagged":false`, `"cycle":null`, `"findings":[]`)
}

// After a repository was renamed, its tokens work with the new name.
func TestRenamedRepository(t *testing.T) {
	t.Parallel()
	w := start(t)
	var asked ports.Target
	w.state = func(_ context.Context, t ports.Target) (sessions.State, error) { asked = t; return stateOf(t), nil }
	w.repository = func(owner, name string) (ports.Target, error) {
		switch {
		case name == "store":
			return ports.Target{RepoID: 70, Owner: "Acme", Name: "Store", Installation: 8}, nil
		case name == "other":
			return ports.Target{RepoID: 71, Owner: owner, Name: name}, nil
		case name == "slow":
			return ports.Target{}, &ports.HostError{Kind: ports.HostLimited, RetryAfter: 2 * time.Hour, Err: errors.New("limit")}
		}
		return ports.Target{}, &ports.HostError{Kind: ports.HostNotFound, Err: errors.New("none")}
	}
	get := func(name string) *httptest.ResponseRecorder {
		return w.send(request{method: "GET", path: "/api/v1/pulls/acme/" + name + "/104", token: w.token})
	}
	w.want(get("store"), http.StatusOK, `"Acme/Store"`)
	if asked.RepoID != 70 || asked.Installation != 8 || asked.Number != 104 {
		t.Errorf("asked for %+v", asked)
	}
	w.want(get("other"), http.StatusNotFound)
	w.want(get("gone"), http.StatusNotFound)
	a := get("slow")
	if w.want(a, http.StatusServiceUnavailable); a.Header().Get("Retry-After") != "3600" {
		t.Errorf("Retry-After %q", a.Header().Get("Retry-After"))
	}
}

func TestWaitParameter(t *testing.T) {
	t.Parallel()
	for q, want := range map[string]time.Duration{
		"": 0, "wait=1s": time.Second, "wait=60s": time.Minute, "wait=61s": -1, "wait=0s": -1, "wait=": -1, "wait": -1, "wait=10": -1, "wait=1m": -1, "wait=1.5s": -1,
		"wait=-1s": -1, "wait=+1s": -1, "wait=01s": -1, "wait=1s&wait=2s": -1, "wait=1s&x=1": -1, "x=1": -1, "wait=%zz": -1, "Wait=1s": -1, "wait=99999999999s": -1,
	} {
		d, p := waitOf(q)
		if p != nil {
			d = -1
		}
		if d != want {
			t.Errorf("%q is %s, want %s", q, d, want)
		}
	}
}

func FuzzWait(f *testing.F) {
	for _, q := range []string{"", "wait=60s", "wait=1s&wait=2s", "wait=%31s", "x", "wait=1e1s"} {
		f.Add(q)
	}
	f.Fuzz(func(t *testing.T, q string) {
		d, p := waitOf(q)
		if p == nil && d != 0 && (d < minWait || d > maxWait || d%time.Second != 0) || p != nil && (d != 0 || p.Status != http.StatusBadRequest) {
			t.Fatalf("%q: %s, %+v", q, d, p)
		}
	})
}

// settling returns a state that is settled from the given read on.
func settling(after int64) func(context.Context, ports.Target) (sessions.State, error) {
	var n atomic.Int64
	return func(_ context.Context, t ports.Target) (sessions.State, error) {
		s := stateOf(t)
		s.Settled = n.Add(1) >= after
		return s, nil
	}
}

// waiting sends a request that waits. No other goroutine calls the API at that time.
func (w *world) waiting(wait string) *httptest.ResponseRecorder {
	w.Helper()
	return w.send(request{method: "GET", path: aPull + "?wait=" + wait, token: w.token})
}

// A wait ends when the state is settled, or when its time is over, and looks once a second.
func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := start(t)
		begun := time.Now()
		w.state = settling(1)
		if w.want(w.waiting("60s"), http.StatusOK, `"settled":true`); time.Since(begun) != 0 || w.reads != 1 {
			t.Errorf("a settled state took %s and %d reads", time.Since(begun), w.reads)
		}
		w.state = settling(4)
		if w.want(w.waiting("60s"), http.StatusOK, `"settled":true`); time.Since(begun) != 3*time.Second || w.reads != 3 || w.asks != 3 {
			t.Errorf("it took %s, %d reads and %d looks", time.Since(begun), w.reads, w.asks)
		}
		w.state = settling(1000)
		if w.want(w.waiting("10s"), http.StatusOK, `"settled":false`); time.Since(begun) != 13*time.Second {
			t.Errorf("it took %s", time.Since(begun))
		}
		// A lasting failure ends the wait; a temporary one does not.
		n := 0
		w.state = func(ctx context.Context, t ports.Target) (sessions.State, error) {
			if n++; n == 2 {
				return sessions.State{}, &ports.HostError{Kind: ports.HostTransient, Err: errors.New("x")}
			}
			s := stateOf(t)
			s.Settled = n >= 3
			return s, nil
		}
		w.want(w.waiting("60s"), http.StatusOK, `"settled":true`)
		n = 0
		w.state = func(ctx context.Context, t ports.Target) (sessions.State, error) {
			if n++; n == 2 {
				return sessions.State{}, ports.ErrNotFound
			}
			return sessions.State{}, nil
		}
		w.want(w.waiting("60s"), http.StatusNotFound)
	})
}

// A wait ends when the server drains, and when the client leaves.
func TestWaitEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := start(t)
		w.state = settling(1000)
		begun := time.Now()
		ctx, cancel := context.WithCancel(t.Context())
		r := w.request(request{method: "GET", path: aPull + "?wait=60s", token: w.token}).WithContext(ctx)
		done := make(chan struct{})
		go func() { w.api.ServeHTTP(httptest.NewRecorder(), r); close(done) }()
		synctest.Wait()
		cancel()
		<-done
		go func() { synctest.Wait(); w.api.Drain(); w.api.Drain() }()
		w.want(w.waiting("60s"), http.StatusOK, `"settled":false`)
		w.want(w.waiting("60s"), http.StatusOK, `"settled":false`)
		if time.Since(begun) != 0 {
			t.Errorf("the waits ended after %s", time.Since(begun))
		}
	})
}

// Waits take no slots from requests that work. Their number is limited, per token and in total.
func TestManyWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := start(t)
		w.state = settling(1 << 40)
		wait := func(token string) {
			r := w.request(request{method: "GET", path: aPull + "?wait=60s", token: token})
			go w.api.ServeHTTP(httptest.NewRecorder(), r)
			synctest.Wait() // until it waits
		}
		for range ownWaits {
			wait(w.token)
		}
		a := w.waiting("60s")
		if w.want(a, http.StatusTooManyRequests, "20 requests of this token"); a.Header().Get("Retry-After") != "5" {
			t.Errorf("Retry-After %q", a.Header().Get("Retry-After"))
		}
		w.want(w.event(goodEvent), http.StatusAccepted)
		for n := range (maxWaits - ownWaits) / ownWaits {
			token := w.newToken(ports.APIToken{ID: int64(100 + n), Repository: shop})
			for range ownWaits {
				wait(token)
			}
		}
		w.token = w.newToken(ports.APIToken{ID: 99, Repository: shop})
		w.want(w.waiting("60s"), http.StatusTooManyRequests, "200 requests of all tokens")
		w.want(w.send(request{method: "GET", path: aPull, token: w.token}), http.StatusOK)
		time.Sleep(time.Minute) // of the bubble's clock: the waits are over
		synctest.Wait()
		w.state = settling(2)
		w.want(w.waiting("60s"), http.StatusOK, `"settled":true`)
	})
}

// Only maxWork requests use the database at a time. Others are put off, and requests that hang are ended.
func TestManyRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := start(t)
		w.want(w.event(goodEvent), http.StatusAccepted)
		w.speak = func(ctx context.Context, _ ports.SessionEvent) (ports.Spoken, error) {
			<-ctx.Done()
			return ports.Spoken{}, ctx.Err()
		}
		answers := make(chan *httptest.ResponseRecorder, maxWork)
		for n := range maxWork {
			token := w.token
			if n%2 == 1 {
				token = w.newToken(ports.APIToken{ID: int64(n), Repository: shop})
			}
			r := w.request(request{method: "POST", path: "/api/v1/events", token: token, body: goodEvent})
			go func() {
				a := httptest.NewRecorder()
				w.api.ServeHTTP(a, r)
				answers <- a
			}()
		}
		synctest.Wait()
		a := w.send(request{method: "GET", path: aPull, token: w.token})
		if w.want(a, http.StatusServiceUnavailable, "as many requests as it can"); a.Header().Get("Retry-After") != "1" {
			t.Errorf("Retry-After %q", a.Header().Get("Retry-After"))
		}
		begun := time.Now()
		for range maxWork {
			w.want(<-answers, http.StatusServiceUnavailable, "in time")
		}
		if time.Since(begun) != maxWorking {
			t.Errorf("they ended after %s", time.Since(begun))
		}
		w.want(w.send(request{method: "GET", path: aPull, token: w.token}), http.StatusOK)
	})
}

// A wait may be longer than the server's own deadlines. This needs a real server, and its deadlines
// are shorter than the shortest wait.
func TestWaitIsLongerThanTheServersDeadlines(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.state = settling(2)
	server := httptest.NewUnstartedServer(w.api)
	server.Config.ReadTimeout, server.Config.WriteTimeout = 500*time.Millisecond, 500*time.Millisecond
	server.Start()
	defer server.Close()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+aPull+"?wait=60s", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+w.token)
	resp, err := server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Error(resp.Status)
	}
}
