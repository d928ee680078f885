package harness

import (
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"
	"sync/atomic"
	"testing"
	"time"
)

// balance answers at one address for several servers, in turn, as a balancer
// does that tries nothing again: what it sends to a dead server fails.
func balance(t *testing.T, servers []*server) (baseURL string) {
	var turn atomic.Uint64
	return proxy(t, &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&url.URL{Scheme: "http", Host: servers[turn.Add(1)%uint64(len(servers))].addr})
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	})
}

// replicaHeader names the server that a request to GitHub comes from.
const replicaHeader = "X-Harness-Replica"

// outlet is a way to GitHub for one of several servers, which marks what takes
// it, so that a server can be killed at a request of its own.
func outlet(t *testing.T, gh string, n int) (baseURL string) {
	to, err := url.Parse(gh)
	if err != nil {
		t.Fatal(err)
	}
	return proxy(t, &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			r.Out.Header.Set(replicaHeader, strconv.Itoa(n))
		},
		// A connection that GitHub drops is dropped here too.
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	})
}

func proxy(t *testing.T, p *httputil.ReverseProxy) (baseURL string) {
	t.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true, DialContext: (&net.Dialer{Timeout: 2 * time.Second}).DialContext}
	p.Transport, p.ErrorLog = transport, log.New(io.Discard, "", 0)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: p, ErrorLog: p.ErrorLog, ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	t.Cleanup(func() {
		server.Close()
		transport.CloseIdleConnections()
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("serve a proxy: %v", err)
		}
	})
	return "http://" + l.Addr().String()
}
