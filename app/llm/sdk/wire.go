package sdk

import (
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/reviewgate/reviewgate/app/llm"
)

const (
	// maxAnswer limits the bytes of an answer that are read, uncompressed. 64,000 tokens of
	// text are about 300 kB, or 3 MB as a stream's events.
	maxAnswer = 8 << 20
	// maxRefusal limits the bytes that are read of an error.
	maxRefusal = 64 << 10
	// maxHeader limits an answer's header.
	maxHeader = 256 << 10
	// maxValues limits the number of values in an answer, or in one event of a stream. Real
	// ones have some tens. An empty object of three bytes becomes up to 1.5 kB in the SDKs'
	// types, so 8 MiB of them would become 4 GB.
	maxValues = 10_000

	connectTimeout = 15 * time.Second

	eventStream = "text/event-stream"
)

// wire is the transport of one model. It turns a response that isn't an answer of the API
// into an error before an SDK sees it. The SDKs read a proxy's page as an answer without
// content, or lose the status of one that isn't JSON. A redirect is such an error too, so
// that none is followed: the question and the key are for one host.
type wire struct {
	next http.RoundTripper
	api  *url.URL // the only host that is asked
	want string   // the media type of answers
}

// client creates the HTTP client of a model.
func client(api *url.URL, want string, next http.RoundTripper) *http.Client {
	if next == nil {
		next = &http.Transport{
			Proxy:                  proxy(http.ProxyFromEnvironment),
			DialContext:            (&net.Dialer{Timeout: connectTimeout}).DialContext,
			TLSHandshakeTimeout:    connectTimeout,
			ForceAttemptHTTP2:      true,
			MaxIdleConnsPerHost:    4,
			IdleConnTimeout:        90 * time.Second,
			MaxResponseHeaderBytes: maxHeader,
		}
	}
	return &http.Client{Transport: &wire{next: next, api: api, want: want}}
}

// proxy finds a proxy with find. It replaces find's error, which repeats an unreadable
// address with its password.
func proxy(find func(*http.Request) (*url.URL, error)) func(*http.Request) (*url.URL, error) {
	return func(req *http.Request) (*url.URL, error) {
		u, err := find(req)
		if err != nil {
			return nil, &fault{kind: llm.Unreachable, err: errors.New("the proxy of the environment is not an address: look at HTTPS_PROXY and HTTP_PROXY")}
		}
		return u, nil
	}
}

// RoundTrip sends req and returns an answer of the API, or a [*refusal] or a
// [*fault].
func (w *wire) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Scheme != w.api.Scheme || req.URL.Host != w.api.Host {
		if req.Body != nil {
			req.Body.Close()
		}
		return nil, &fault{kind: llm.Invalid, err: errors.New("a request to another host")}
	}
	var sent atomic.Bool
	resp, err := w.next.RoundTrip(req.WithContext(httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{
		WroteRequest: func(i httptrace.WroteRequestInfo) { sent.Store(i.Err == nil) },
	})))
	if err != nil {
		var ours *fault
		if errors.As(err, &ours) {
			return nil, ours
		}
		return nil, &fault{kind: llm.Unreachable, err: err, foreign: true, sent: sent.Load()}
	}
	if err := w.look(resp); err != nil {
		resp.Body.Close()
		return nil, err
	}
	resp.Body = &body{ReadCloser: resp.Body, left: maxAnswer, values: values{events: w.want == eventStream}}
	return resp, nil
}

// look accepts an answer of the API, and nothing else.
func (w *wire) look(resp *http.Response) error {
	if resp.StatusCode != http.StatusOK {
		return readRefusal(resp)
	}
	// Go decompresses what it requested, and removes the header.
	if packed := resp.Header.Get("Content-Encoding"); packed != "" && packed != "identity" {
		return &fault{kind: llm.Malformed, status: resp.StatusCode, err: errors.New("the answer is packed in a way that nobody asked for")}
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if kind != w.want {
		return &fault{kind: llm.Malformed, status: resp.StatusCode, err: fmt.Errorf("the answer is no %s: is base_url that of the API?", w.want)}
	}
	return nil
}

// fault is what went wrong with an answer on its way.
type fault struct {
	kind    llm.Kind
	status  int
	err     error
	foreign bool   // err is not ours, and may repeat a server's words
	word    string // the API's word for it
	sent    bool   // whether the API got the whole question
}

func (f *fault) Error() string { return f.err.Error() }
func (f *fault) Unwrap() error { return f.err }

// body is an answer's body with a limit. Its errors are [*fault]s, which distinguishes them
// from errors of the code that reads it.
type body struct {
	io.ReadCloser
	left   int64
	values values
}

func (b *body) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, &fault{kind: llm.Malformed, status: http.StatusOK, err: fmt.Errorf("the answer has more than %d bytes", maxAnswer)}
	}
	// One more byte than the limit shows whether there is more.
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	if !b.values.add(p[:n]) {
		return 0, &fault{kind: llm.Malformed, status: http.StatusOK, err: fmt.Errorf("the answer has more than %d values", maxValues)}
	}
	b.left -= int64(n)
	if b.left < 0 {
		return n - 1, nil
	}
	if err != nil && err != io.EOF {
		err = &fault{kind: brokenOrLost(err), status: http.StatusOK, err: err, foreign: true}
	}
	return n, err
}

// brokenOrLost distinguishes broken compression from a lost connection.
func brokenOrLost(err error) llm.Kind {
	var corrupt flate.CorruptInputError
	if errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) || errors.As(err, &corrupt) {
		return llm.Malformed
	}
	return llm.Unreachable
}
