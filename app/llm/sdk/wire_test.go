package sdk

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/reviewgate/reviewgate/app/llm"
)

// No request goes to another host, however an SDK reads an address.
func TestOneHost(t *testing.T) {
	api := &url.URL{Scheme: "https", Host: "models.example"}
	w := &wire{next: none{}, api: api}
	for _, to := range []string{"https://other.example/", "http://models.example/", "https://models.example:8443/", "https://models.example.other/"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, to, bytes.NewReader(nil))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := w.RoundTrip(req)
		if err == nil {
			resp.Body.Close()
			t.Errorf("%s was asked", to)
		}
		var f *fault
		if !errors.As(err, &f) || f.kind != llm.Invalid {
			t.Errorf("%s: %v", to, err)
		}
	}
}

// The password of an invalid proxy is not shown.
func TestProxy(t *testing.T) {
	find := proxy(func(*http.Request) (*url.URL, error) {
		return nil, errors.New(`invalid proxy address "http://user:secret%zz@proxy:3128"`)
	})
	w := &wire{next: &http.Transport{Proxy: find}, api: &url.URL{Scheme: "https", Host: "models.example"}}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://models.example/", bytes.NewReader(nil))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := w.RoundTrip(req)
	if err == nil {
		resp.Body.Close()
		t.Fatal("the server was asked")
	}
	e := classify(err, func(s string) string { return s })
	if e.Kind != llm.Unreachable || e.Sent || strings.Contains(e.Error(), "secret") || !strings.Contains(e.Error(), "HTTPS_PROXY") {
		t.Error(e)
	}
}

type none struct{}

func (none) RoundTrip(*http.Request) (*http.Response, error) { return nil, errors.New("it was sent") }

// An answer with the maximum number of bytes is read completely, and one more byte is too
// many, in pieces of any size.
func TestBound(t *testing.T) {
	for name, slow := range map[string]func(io.Reader) io.Reader{
		"at once":    func(r io.Reader) io.Reader { return r },
		"by byte":    iotest.OneByteReader,
		"with error": iotest.DataErrReader,
	} {
		for size, fits := range map[int]bool{0: true, 99: true, 100: true, 101: false, 5000: false} {
			b := &body{ReadCloser: io.NopCloser(slow(bytes.NewReader(make([]byte, size)))), left: 100}
			text, err := io.ReadAll(b)
			if (err == nil) != fits || len(text) != min(size, 100) {
				t.Errorf("%s: %d bytes, of which %d were read, %v", name, size, len(text), err)
			}
		}
	}
}
