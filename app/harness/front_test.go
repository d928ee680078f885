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

// balance serves several servers in turn at one address, like a load balancer without
// retries. A request to a dead server fails.
func balance(t *testing.T, servers []*server) (baseURL string) {
	var turn atomic.Uint64
	return proxy(t, &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&url.URL{Scheme: "http", Host: servers[turn.Add(1)%uint64(len(servers))].addr})
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	})
}

// replicaHeader names the server that sent a request to GitHub.
const replicaHeader = "X-Harness-Replica"

// outlet is one server's proxy to GitHub. It marks the requests, so that a server can be
// killed during one of its own requests.
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
