package outbound

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/config"
)

func TestPost(t *testing.T) {
	t.Parallel()
	var seen []http.Header
	c, to := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		seen = append(seen, r.Header)
		if r.Method != http.MethodPost || r.URL.RequestURI() != "/hook?token="+canary || string(body) != `{"a":1}` || r.ContentLength != 7 || !r.Close {
			t.Errorf("%s %s %q, the last request: %v", r.Method, r.URL, body, r.Close)
		}
		if err := Verify([]byte(secret), r.Header, body, docsTime.Add(time.Hour)); (err == nil) != (len(seen) == 2) {
			t.Errorf("request %d: %v", len(seen), err)
		}
		w.WriteHeader(http.StatusAccepted)
		fmt.Fprint(w, `{"b":2}`)
	})
	for _, at := range []time.Time{docsTime, docsTime.Add(time.Hour)} {
		c.now = func() time.Time { return at }
		got, err := c.Post(t.Context(), to, []byte(secret), "r-1.2_3:4", []byte(`{"a":1}`))
		if err != nil || got.Status != http.StatusAccepted || string(got.Body) != `{"b":2}` {
			t.Fatalf("%d %q %v", got.Status, got.Body, err)
		}
	}
	for _, h := range seen {
		for name, want := range map[string]string{
			RequestIDHeader: "r-1.2_3:4", "Content-Type": "application/json", "User-Agent": "reviewgate/1.2.3",
			"Accept-Encoding": "identity", "Authorization": "", "Cookie": "",
		} {
			if h.Get(name) != want {
				t.Errorf("%s is %q, want %q", name, h.Get(name), want)
			}
		}
	}
	if seen[0].Get(SignatureHeader) == seen[1].Get(SignatureHeader) || seen[0].Get(TimestampHeader) == seen[1].Get(TimestampHeader) {
		t.Error("a repeated request has the old signature")
	}
}

func TestStatuses(t *testing.T) {
	t.Parallel()
	var next atomic.Int64
	c, to := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Word", canary)
		w.WriteHeader(int(next.Load()))
	})
	temporary := map[int]bool{408: true, 425: true, 429: true, 500: true, 501: true, 502: true, 503: true, 504: true, 599: true}
	for _, status := range []int{200, 201, 202, 204, 299, 300, 304, 400, 401, 403, 404, 408, 409, 410, 413, 421, 422, 425, 426, 429, 451, 499, 500, 501, 502, 503, 504, 599, 600, 999} {
		next.Store(int64(status))
		got, err := post(t, c, to)
		if status < 300 {
			if err != nil || got.Status != status || len(got.Body) > 0 {
				t.Errorf("%d: got %+v, %v", status, got, err)
			}
			continue
		}
		mustFail(t, err, "answered "+strconv.Itoa(status), temporary[status] || status > 599)
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	type answer struct {
		status int
		after  string
	}
	var next atomic.Pointer[answer]
	c, to := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", next.Load().after)
		w.WriteHeader(next.Load().status)
	})
	c.now = func() time.Time { return docsTime }
	in := func(d time.Duration) string { return docsTime.Add(d).UTC().Format(http.TimeFormat) }
	for _, a := range []struct {
		answer
		want time.Duration
	}{
		{answer{429, "7"}, 7 * time.Second},
		{answer{503, "7"}, 7 * time.Second},
		{answer{503, "3600"}, time.Hour},
		{answer{503, "3601"}, time.Hour},
		{answer{503, "9223372036854775807"}, time.Hour},
		{answer{503, in(90 * time.Second)}, 90 * time.Second},
		{answer{503, in(24 * time.Hour)}, time.Hour},
		{answer{503, in(-time.Hour)}, 0},
		{answer{503, "-7"}, 0},
		{answer{503, "7.5"}, 0},
		{answer{503, "soon"}, 0},
		{answer{503, ""}, 0},
		{answer{500, "7"}, 0},
		{answer{400, "7"}, 0},
	} {
		next.Store(&a.answer)
		_, err := post(t, c, to)
		if e := mustFail(t, err, "answered "+strconv.Itoa(a.status), a.status != 400); e.RetryAfter() != a.want {
			t.Errorf("%d, Retry-After: %s: wait for %s, want %s", a.status, a.after, e.RetryAfter(), a.want)
		}
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { calls.Add(1) }))
	t.Cleanup(other.Close)
	for _, location := range []string{other.URL, "/elsewhere", "https://example.com/?" + canary, "http://169.254.169.254/latest/meta-data/", "//10.0.0.1/", ":", "file:///etc/passwd"} {
		for _, status := range []int{300, 301, 302, 303, 305, 307, 308} {
			c, to := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				calls.Add(1)
				w.Header().Set("Location", location)
				w.WriteHeader(status)
			})
			calls.Store(0)
			_, err := post(t, c, to)
			mustFail(t, err, "redirects to another address, which is not followed", false)
			if calls.Load() != 1 {
				t.Errorf("%d calls", calls.Load())
			}
		}
	}
}

func TestLongAnswers(t *testing.T) {
	t.Parallel()
	var size atomic.Int64
	c, to := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Write(bytes.Repeat([]byte("x"), int(size.Load())))
	})
	size.Store(maxBody)
	if got, err := post(t, c, to); err != nil || len(got.Body) != maxBody {
		t.Errorf("%d bytes, %v", len(got.Body), err)
	}
	size.Store(maxBody + 1)
	_, err := post(t, c, to)
	mustFail(t, err, "sent more than 1 MiB", false)
}

// The receiver notices that nobody reads its answer to the end.
func TestEndlessBody(t *testing.T) {
	t.Parallel()
	gone := make(chan struct{})
	c, to := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		defer close(gone)
		part := bytes.Repeat([]byte(canary), 1<<12)
		for {
			if _, err := w.Write(part); err != nil {
				return
			}
		}
	})
	_, err := post(t, c, to)
	mustFail(t, err, "sent more than 1 MiB", false)
	<-gone
}

func TestSlowAnswers(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]string{"no answer": "", "slow body": canary} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, to := serve(t, func(w http.ResponseWriter, r *http.Request) {
				io.Copy(io.Discard, r.Body) // the server looks for the end of the connection after that
				if first != "" {
					fmt.Fprint(w, first)
					w.(http.Flusher).Flush()
				}
				<-r.Context().Done()
			})
			c.exchange = short
			_, err := post(t, c, to)
			mustFail(t, err, "no answer within 0.05 s", true)
		})
	}
}

func TestDefaultLimits(t *testing.T) {
	t.Parallel()
	c := New(Options{})
	if c.connect != 10*time.Second || c.exchange != 30*time.Second || seconds(c.exchange) != "30 s" {
		t.Errorf("limits: %s and %s", c.connect, c.exchange)
	}
}

// A handshake that never ends is given up.
func TestSlowHandshake(t *testing.T) {
	t.Parallel()
	to := listen(t, func(conn net.Conn) { io.Copy(io.Discard, conn) })
	to.URL = strings.Replace(to.URL, "http:", "https:", 1)
	c := client()
	c.connect = short
	_, err := post(t, c, to)
	mustFail(t, err, "no connection within 0.05 s", true)
}

func TestBrokenAnswers(t *testing.T) {
	t.Parallel()
	const ok = "HTTP/1.1 200 OK\r\n"
	for name, a := range map[string]struct {
		answer, want string
		temporary    bool
	}{
		"nothing":          {"", "the connection broke off", true},
		"half a header":    {ok + "X-Word: can", "the connection broke off", true},
		"half a body":      {ok + "Content-Length: 100\r\n\r\n" + canary, "the connection broke off", true},
		"half a chunk":     {ok + "Transfer-Encoding: chunked\r\n\r\n10\r\n" + canary, "the connection broke off", true},
		"another protocol": {"220 " + canary + " ESMTP\r\n", "the answer is not valid HTTP", true},
		"broken chunk":     {ok + "Transfer-Encoding: chunked\r\n\r\n" + canary + "\r\n", "the answer is not valid HTTP", true},
		"two lengths":      {ok + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nxx", "the answer is not valid HTTP", true},
		"negative length":  {ok + "Content-Length: -1\r\n\r\nxx", "the answer is not valid HTTP", true},
		"another coding":   {ok + "Transfer-Encoding: gzip\r\n\r\nxx", "the answer is not valid HTTP", true},
		"switch":           {"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: " + canary + "\r\n\r\n", "answered 101", false},
		"large header":     {ok + "X-Word: " + strings.Repeat(canary, 64<<10/len(canary)) + "\r\n\r\n", "sent more than 64 KiB of headers", false},
		"many headers":     {ok + strings.Repeat("X: "+canary+"\r\n", 64<<10/len(canary)), "sent more than 64 KiB of headers", false},
		"many early hints": {strings.Repeat("HTTP/1.1 103 Early Hints\r\nLink: "+canary+"\r\n\r\n", 2<<10), "sent more than 64 KiB of headers", false},
		"a long line":      {strings.Repeat(canary, 64<<10/len(canary)+1), "sent more than 64 KiB of headers", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			to := listen(t, func(conn net.Conn) {
				if _, err := http.ReadRequest(bufio.NewReader(conn)); err != nil {
					t.Error(err)
				}
				fmt.Fprint(conn, a.answer)
			})
			_, err := post(t, client(), to)
			mustFail(t, err, a.want, a.temporary)
		})
	}
}

// Headers that never end are given up at the size limit, before the time limit.
func TestEndlessHeaders(t *testing.T) {
	t.Parallel()
	gone := make(chan struct{})
	to := listen(t, func(conn net.Conn) {
		defer close(gone)
		fmt.Fprint(conn, "HTTP/1.1 200 OK\r\n")
		for {
			if _, err := fmt.Fprint(conn, "X-Word: ", canary, "\r\n"); err != nil {
				return
			}
		}
	})
	_, err := post(t, client(), to)
	mustFail(t, err, "sent more than 64 KiB of headers", false)
	<-gone
}

func TestCompressedAnswers(t *testing.T) {
	t.Parallel()
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	z.Write(make([]byte, 4<<20))
	if err := z.Close(); err != nil || bomb.Len() > maxBody {
		t.Fatalf("%d bytes, %v", bomb.Len(), err)
	}
	var coding atomic.Value
	c, to := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		if s := coding.Load().(string); s != "" {
			w.Header().Set("Content-Encoding", s)
		}
		w.Write(bomb.Bytes())
	})
	for _, s := range []string{"gzip", "br", "GZIP", "identity, gzip", canary} {
		coding.Store(s)
		_, err := post(t, c, to)
		mustFail(t, err, "sent a compressed answer, which is not supported", false)
	}
	for _, s := range []string{"", "identity"} {
		coding.Store(s)
		if got, err := post(t, c, to); err != nil || !bytes.Equal(got.Body, bomb.Bytes()) {
			t.Errorf("%q: %d bytes, %v", s, len(got.Body), err)
		}
	}
}

func TestDeadPort(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	_, err = post(t, client(), receiver("http://"+l.Addr().String()+"/?"+canary))
	mustFail(t, err, "no connection: connection refused", true)
}

func TestCertificates(t *testing.T) {
	t.Parallel()
	c, to := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("called") })
	_, err := post(t, client(), to)
	mustFail(t, err, "the certificate is from an authority that this server does not trust", true)

	n := names{answers: map[string][][]netip.Addr{"other.test": {addresses("127.0.0.1")}}}
	c.resolver = n.resolver()
	to.URL = strings.Replace(to.URL, "127.0.0.1", "other.test", 1)
	_, err = post(t, c, to)
	mustFail(t, err, "the certificate is for another name", true)

	plain := listen(t, func(conn net.Conn) {
		io.ReadFull(conn, make([]byte, 5))
		fmt.Fprint(conn, "HTTP/1.1 400 "+canary+"\r\n\r\n")
	})
	plain.URL = strings.Replace(plain.URL, "http:", "https:", 1)
	_, err = post(t, client(), plain)
	mustFail(t, err, "does not speak TLS", true)

	closing := listen(t, func(net.Conn) {})
	closing.URL = strings.Replace(closing.URL, "http:", "https:", 1)
	_, err = post(t, client(), closing)
	mustFail(t, err, "the connection broke off", true)

	old := httptest.NewUnstartedServer(http.NotFoundHandler())
	old.Config.ErrorLog, old.TLS = quiet, &tls.Config{MaxVersion: tls.VersionTLS11}
	old.StartTLS()
	t.Cleanup(old.Close)
	_, err = post(t, client(old.Certificate()), receiver(old.URL))
	mustFail(t, err, "the TLS handshake failed", true)

	for _, c := range []struct {
		err  error
		want string
	}{
		{x509.CertificateInvalidError{Reason: x509.Expired, Detail: canary}, "the certificate has expired, or is not valid yet"},
		{x509.CertificateInvalidError{Reason: x509.IncompatibleUsage, Detail: canary}, "the certificate is not valid"},
	} {
		err := &tls.CertificateVerificationError{Err: c.err}
		mustFail(t, handshakeError(err, time.Second), c.want, true)
	}
}

func TestSlowConnection(t *testing.T) {
	t.Parallel()
	err := &net.OpError{Op: "dial", Net: "tcp", Err: os.ErrDeadlineExceeded}
	mustFail(t, dialError(err, connectLimit), "no connection within 10 s", true)
}

// The caller's context ends a request. Its error differs from a receiver's failures.
func TestContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	c, to := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		cancel()
		<-r.Context().Done()
	})
	_, err := c.Post(ctx, to, []byte(secret), "r-1", nil)
	if !errors.Is(err, context.Canceled) || errors.As(err, new(*Error)) {
		t.Error(err)
	}
}

// Mistakes on our side are found before anything is sent.
func TestNothingIsSent(t *testing.T) {
	t.Parallel()
	const (
		noURL  = "the url is not an HTTP address: write it as https://host/path"
		noUser = "the url has a user or a password: leave them out, because requests are signed"
	)
	c, working := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("called") })
	for url, want := range map[string]string{
		"":                                    noURL,
		"/path":                               noURL,
		"https:///path":                       noURL,
		"https://:443/" + canary:              noURL,
		"https:example.com":                   noURL,
		"ftp://127.0.0.1/" + canary:           noURL,
		"file:///etc/passwd":                  noURL,
		"unix:///run/docker.sock":             noURL,
		"https://127.0.0.1:port/" + canary:    noURL,
		"https://127.0.0.1:65536/":            noURL,
		"https://127.0.0.1:0/":                noURL,
		"https://127.0.0.1\r\nX: y/":          noURL,
		"https://[::1/":                       noURL,
		"https://%zz/" + canary:               noURL,
		"https://" + canary + "@127.0.0.1":    noUser,
		"https://u:" + canary + "@127.0.0.1/": noUser,
		"https://169.254.169.254/" + canary:   "169.254.169.254 is not a public address: the server's config may list it in allow_private",
		"https://127.0.0.2/" + canary:         "127.0.0.2 is not a public address: the server's config may list it in allow_private",
		"http://[::ffff:10.0.0.1]/" + canary:  "10.0.0.1 is a private address: the server's config may list it in allow_private",
		"http://192.0.2.1/" + canary:          "192.0.2.1 is not a public address: the server's config may list it in allow_private",
		"http://8.8.8.8/" + canary:            "http is allowed only for addresses in allow_private: use https",
	} {
		to := working
		to.URL = url
		_, err := post(t, c, to)
		if mustFail(t, err, want, false) == nil {
			t.Error(url)
		}
	}
	for _, id := range []string{"", "a b", "a\r\nX-Evil: 1", "a\n", "a\x00", "é", "a;b", `a"b`, "a/b", strings.Repeat("a", 129)} {
		_, err := c.Post(t.Context(), working, []byte(secret), id, nil)
		mustFail(t, err, fmt.Sprintf("the request's id %.40q has characters that an id can't have, or is not 1 to 128 characters long", id), false)
	}
	_, err := c.Post(t.Context(), working, []byte("short"), "r-1", nil)
	mustFail(t, err, "the secret is shorter than 16 characters", false)
	unset := working
	unset.AllowPrivate = []string{"127.0.0.1", "loopback"}
	_, err = post(t, c, unset)
	mustFail(t, err, `allow_private has "loopback", which is neither an address nor a network such as 10.0.0.0/8`, false)
}

// A name is looked up once for each request, and the resulting address is checked. It does not matter
// what the name resolved to before.
func TestRebinding(t *testing.T) {
	t.Parallel()
	var calls int
	c, to := serve(t, func(http.ResponseWriter, *http.Request) { calls++ })
	n := names{answers: map[string][][]netip.Addr{"example.com": {
		addresses("127.0.0.1"), addresses("127.0.0.2"), addresses("10.0.0.1"), addresses("169.254.169.254"), addresses("0.0.0.0"), addresses("127.0.0.1"),
	}}}
	c.resolver = n.resolver()
	to.URL = strings.Replace(to.URL, "127.0.0.1", "example.com", 1)
	for i, want := range []string{
		"", "127.0.0.2 is not a public", "10.0.0.1 is a private", "169.254.169.254 is not a public", "0.0.0.0 is not a public", "",
	} {
		_, err := post(t, c, to)
		if want != "" {
			mustFail(t, err, want+" address: the server's config may list it in allow_private", false)
		} else if err != nil {
			t.Errorf("request %d: %v", i+1, err)
		}
		if n.asked["example.com"] != i+1 {
			t.Errorf("request %d: %d look-ups", i+1, n.asked["example.com"])
		}
	}
	if calls != 2 {
		t.Errorf("%d calls", calls)
	}
}

// Each address of a name is checked separately. Those that must not be called are left out.
func TestNamesWithSeveralAddresses(t *testing.T) {
	t.Parallel()
	c, to := serve(t, func(http.ResponseWriter, *http.Request) {})
	n := names{answers: map[string][][]netip.Addr{
		"example.com":  {addresses("10.0.0.1", "127.0.0.1", "169.254.169.254")},
		"private.test": {addresses("10.0.0.1", "10.0.0.2")},
		"empty.test":   {nil},
	}}
	c.resolver = n.resolver()
	at := func(name string) config.Receiver {
		to := to
		to.URL = strings.Replace(to.URL, "127.0.0.1", name, 1)
		return to
	}
	if _, err := post(t, c, at("example.com")); err != nil {
		t.Error(err)
	}
	_, err := post(t, c, at("empty.test"))
	mustFail(t, err, "the name does not resolve", true)
	_, err = post(t, c, at("unknown.test"))
	mustFail(t, err, "the name does not resolve", true)
	if _, err = post(t, c, at("private.test")); err == nil || !strings.HasSuffix(err.Error(), " is a private address: the server's config may list it in allow_private") {
		t.Error(err)
	}

	// The allowed address is down, which is temporary. The refusal of the others is not.
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	to.URL = "https://example.com:" + port
	var e *Error
	if _, err := post(t, c, to); !errors.As(err, &e) || !e.Temporary() {
		t.Errorf("got %v", err)
	}

	n = names{broken: true}
	c.resolver = n.resolver()
	_, err = post(t, c, at("example.com"))
	mustFail(t, err, "the name could not be looked up", true)
}

// Some systems' resolvers read these hosts as 127.0.0.1 or 169.254.169.254. The resulting address is
// checked. Go's own resolver, which the tests use, looks up only hosts with a letter.
func TestHostsThatAreNumbers(t *testing.T) {
	t.Parallel()
	const private = "127.0.0.1 is not a public address: the server's config may list it in allow_private"
	n := names{answers: map[string][][]netip.Addr{}}
	c := client()
	c.resolver = n.resolver()
	for host, lookedUp := range map[string]bool{
		"0x7f000001": true, "0x7f.1": true, "0xa9.0xfe.0xa9.0xfe": true, "127.0.0.1.nip.test": true,
		"2130706433": false, "2852039166": false, "0177.0.0.1": false, "127.1": false,
	} {
		n.answers[host] = [][]netip.Addr{addresses("127.0.0.1")}
		to := receiver("https://" + host + "/?" + canary)
		to.AllowPrivate = nil
		_, err := post(t, c, to)
		if lookedUp {
			mustFail(t, err, private, false)
		} else {
			mustFail(t, err, "the name does not resolve", true)
		}
	}
}

// One receiver's allow_private does not allow an address for another receiver.
func TestReceiversAreApart(t *testing.T) {
	t.Parallel()
	c, to := serve(t, func(http.ResponseWriter, *http.Request) {})
	for range 2 {
		if _, err := post(t, c, to); err != nil {
			t.Fatal(err)
		}
		other := to
		other.AllowPrivate = nil
		_, err := post(t, c, other)
		mustFail(t, err, "127.0.0.1 is not a public address: the server's config may list it in allow_private", false)
	}
}
