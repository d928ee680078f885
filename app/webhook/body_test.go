package webhook

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// padded is a good payload of n bytes.
func padded(n int) string { return opened + strings.Repeat(" ", n-len(opened)) }

// held sends a delivery of n bytes but for the last one, which finish sends.
func held(h http.Handler, n int, length int64) (finish func() *httptest.ResponseRecorder) {
	text := padded(n)
	from, to := io.Pipe()
	r := delivery("pull_request", text)
	r.Body, r.ContentLength = from, length
	answered := make(chan *httptest.ResponseRecorder, 1)
	go func() { answered <- serve(h, r) }()
	last := make(chan struct{})
	go func() {
		_, _ = io.WriteString(to, text[:n-1])
		<-last
		_, _ = io.WriteString(to, text[n-1:])
		_ = to.Close()
	}()
	return func() *httptest.ResponseRecorder {
		close(last)
		return <-answered
	}
}

// Large bodies take no more memory together than they may; what does not fit
// waits, and small ones always get through.
func TestLargeBodiesWait(t *testing.T) {
	const large = 2 * freeBody
	for name, length := range map[string]int64{"of a known length": large, "without a length": -1} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var b inbox
				h := newHandler(t, &b, func(c *Config) { c.MaxBody, c.MaxReading = large, large })
				finish := held(h, large, length)
				synctest.Wait()

				if w := serve(h, delivery("pull_request", padded(freeBody-1))); w.Code != http.StatusAccepted {
					t.Errorf("a small body beside a large one: status %d: %s", w.Code, w.Body)
				}
				start := time.Now()
				if w := serve(h, delivery("pull_request", padded(large))); w.Code != http.StatusServiceUnavailable || time.Since(start) != maxWait {
					t.Errorf("the second large one: status %d after %s", w.Code, time.Since(start))
				}
				r := delivery("pull_request", padded(large))
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				start = time.Now()
				if w := serve(h, r.WithContext(ctx)); w.Code != http.StatusServiceUnavailable || time.Since(start) != time.Second {
					t.Errorf("one whose sender gave up: status %d after %s", w.Code, time.Since(start))
				}

				waiting := held(h, large, length)
				time.Sleep(maxWait / 2)
				if w := finish(); w.Code != http.StatusAccepted {
					t.Errorf("the first large one: status %d: %s", w.Code, w.Body)
				}
				if w := waiting(); w.Code != http.StatusAccepted {
					t.Errorf("the one that waited: status %d: %s", w.Code, w.Body)
				}
				if len(b.got) != 3 {
					t.Errorf("%d deliveries accepted, want 3", len(b.got))
				}
			})
		})
	}
}

// Whatever becomes of a large body, it gives back what it took.
func TestLargeBodiesGiveBack(t *testing.T) {
	const large = 2 * freeBody
	var b inbox
	h := newHandler(t, &b, func(c *Config) { c.MaxBody, c.MaxReading = large, large })
	forged := delivery("pull_request", padded(large))
	forged.Header.Set("X-Hub-Signature-256", sign([]byte("guess"), padded(large)))
	short := delivery("pull_request", padded(large))
	short.Body = io.NopCloser(io.MultiReader(strings.NewReader(padded(freeBody+1)), brokenReader{}))
	longer := delivery("pull_request", padded(large+1))
	longer.ContentLength = -1
	for _, tt := range []struct {
		r      *http.Request
		status int
	}{
		{forged, http.StatusUnauthorized}, {short, http.StatusBadRequest}, {longer, http.StatusRequestEntityTooLarge},
		{delivery("pull_request", padded(large)), http.StatusAccepted}, {delivery("pull_request", padded(large)), http.StatusAccepted},
	} {
		if w := serve(h, tt.r); w.Code != tt.status {
			t.Errorf("status %d, want %d: %s", w.Code, tt.status, w.Body)
		}
	}
}

// A promise takes little memory before there is something to hold in it.
func TestPromisedLengthIsNotAllocated(t *testing.T) {
	h := newHandler(t, &inbox{}, nil)
	const times = 100
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range times {
		r := delivery("pull_request", "")
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(nil)), MaxBody
		serve(h, r)
	}
	runtime.ReadMemStats(&after)
	if n := (after.TotalAlloc - before.TotalAlloc) / times; n > 2*firstBuffer {
		t.Errorf("%d bytes for an empty body of a great promise", n)
	}
}
