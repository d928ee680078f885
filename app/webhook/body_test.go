package webhook

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// padded is a valid payload of n bytes.
func padded(n int) string { return opened + strings.Repeat(" ", n-len(opened)) }

// dripped sends a delivery of n bytes: its first bytes at once, and then each bytes a second.
func dripped(h http.Handler, n, first, each int) <-chan *httptest.ResponseRecorder {
	text := padded(first)
	if each > 0 {
		text = padded(n)
	}
	from, to := io.Pipe()
	r := delivery("pull_request", text)
	r.Body, r.ContentLength = from, int64(n)
	answered := make(chan *httptest.ResponseRecorder, 1)
	go func() { answered <- serve(h, r) }()
	go func() {
		_, err := io.WriteString(to, text[:first])
		for at := first; at < n && err == nil && each > 0; at += each {
			time.Sleep(time.Second)
			_, err = io.WriteString(to, text[at:min(n, at+each)])
		}
		if each > 0 {
			to.Close()
		}
	}()
	return answered
}

// When large bodies have used up their memory, another large body waits for those that arrive
// fast enough, and takes the place of those that do not. Small bodies always get through.
func TestLargeBodiesShareTheirMemory(t *testing.T) {
	const large = 4 * smallBody
	for name, tt := range map[string]struct {
		first, each int // bytes of the first body
		length      int64
		status      int // of the second body
		after       time.Duration
		closed      bool // whether the first body is closed
	}{
		"idle":                  {3 * smallBody, 0, large, http.StatusAccepted, grace + recheck, true},
		"idle without a length": {3 * smallBody, 0, -1, http.StatusAccepted, grace + recheck, true},
		"idle, all but its end": {large - 1, 0, large, http.StatusAccepted, grace + recheck, true},
		"a byte a second":       {3 * smallBody, 1, large, http.StatusAccepted, grace + recheck, true},
		"4 KB a second":         {3 * smallBody, 4 << 10, large, http.StatusAccepted, maxWait, true},
		"9 KB a second":         {3 * smallBody, 9 << 10, large, http.StatusServiceUnavailable, maxWait, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var b inbox
				h := newHandler(t, &b, func(c *Config) { c.MaxBody, c.MaxReading = large, large })
				there := dripped(h, large, tt.first, tt.each)
				synctest.Wait()
				if w := serve(h, delivery("pull_request", padded(smallBody-1))); w.Code != http.StatusAccepted {
					t.Errorf("a small body beside a large one: status %d: %s", w.Code, w.Body)
				}
				start := time.Now()
				r := delivery("pull_request", padded(large))
				r.ContentLength = tt.length
				if w := serve(h, r); w.Code != tt.status || time.Since(start) > tt.after {
					t.Errorf("status %d after %s: %s", w.Code, time.Since(start), w.Body)
				}
				want := http.StatusAccepted
				if tt.closed {
					want = http.StatusRequestTimeout
				}
				if w := <-there; w.Code != want {
					t.Errorf("the first body: status %d, want %d: %s", w.Code, want, w.Body)
				}
				time.Sleep(2 * time.Second) // so that its sender notices
			})
		})
	}
}

// A promised length reserves no memory, so that any number of senders may promise 25 MB.
func TestPromisedLengthReservesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b inbox
		h := newHandler(t, &b, nil)
		var idle []<-chan *httptest.ResponseRecorder
		for range 400 {
			idle = append(idle, dripped(h, MaxBody, smallBody+1, 0))
		}
		synctest.Wait()
		for _, n := range []int{1 << 10, 40 << 10, 200 << 10, 5 << 20, MaxBody} {
			if w := serve(h, delivery("pull_request", padded(n))); w.Code != http.StatusAccepted {
				t.Errorf("%d bytes: status %d: %s", n, w.Code, w.Body)
			}
		}
		var ends []func()
		room := h.rooms.large
		room.mu.Lock()
		for b := range room.bodies {
			ends = append(ends, b.close)
		}
		room.mu.Unlock()
		for _, end := range ends {
			end()
		}
		for _, answered := range idle {
			<-answered
		}
	})
}

// However a large body ends, its memory is released.
func TestLargeBodiesReleaseTheirMemory(t *testing.T) {
	const large = 2 * smallBody
	var b inbox
	h := newHandler(t, &b, func(c *Config) { c.MaxBody, c.MaxReading = large, large })
	forged := delivery("pull_request", padded(large))
	forged.Header.Set("X-Hub-Signature-256", sign([]byte("guess"), padded(large)))
	short := delivery("pull_request", padded(large))
	short.Body = io.NopCloser(io.MultiReader(strings.NewReader(padded(smallBody+1)), brokenReader{}))
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
	if r := h.rooms; r.small.used != 0 || r.large.used != 0 || len(r.small.bodies)+len(r.large.bodies) > 0 {
		t.Errorf("%d and %d bytes are still reserved", r.small.used, r.large.used)
	}
}

// A promised length allocates little memory before the body arrives.
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
		t.Errorf("%d bytes for an empty body with a large promised length", n)
	}
}

// lateDeadline is a response whose read deadline ends the body at once, but takes a while to
// be set.
type lateDeadline struct {
	http.ResponseWriter
	body *io.PipeReader
	set  atomic.Bool
}

func (w *lateDeadline) SetReadDeadline(time.Time) error {
	w.body.CloseWithError(os.ErrDeadlineExceeded)
	time.Sleep(time.Minute)
	w.set.Store(true)
	return nil
}

// The deadline that ends a slow body is set before the handler returns. After that it would
// end the next request on the connection.
func TestSlowBodyIsClosedBeforeTheHandlerReturns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		small := newRoom(firstBuffer)
		from, to := io.Pipe()
		w := &lateDeadline{ResponseWriter: httptest.NewRecorder(), body: from}
		read := make(chan error, 1)
		go func() {
			b := &body{rooms: rooms{small, newRoom(MaxBody)}}
			err := b.read(w, httptest.NewRequest(http.MethodPost, "/", from), MaxBody)
			b.release()
			read <- err
		}()
		if _, err := to.Write([]byte("{")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * grace)
		if err := small.take(t.Context(), small.enter(func() {}), firstBuffer); err != nil {
			t.Errorf("another body gets no room: %v", err)
		}
		if err := <-read; !errors.Is(err, errSlow) {
			t.Errorf("the slow body ends with %v", err)
		}
		if !w.set.Load() {
			t.Error("the body was released before its deadline was set")
		}
	})
}
