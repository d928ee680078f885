package app

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/rs/zerolog"
)

// HookPath is where GitHub sends its webhooks.
const HookPath = "/api/github/hook"

func (a *App) routes(hook http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle(HookPath, hook)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { text(w, http.StatusOK, "alive") })
	mux.HandleFunc("GET /readyz", a.ready)
	mux.Handle("GET /metrics", promhttp.HandlerFor(a.metrics.Registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError}))
	return mux
}

// ready tells whether webhooks can be stored and worked on. GitHub's health
// is no part of it: its outage would take every replica away, and with them
// the webhooks.
func (a *App) ready(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), 2*time.Second)
	defer cancel()
	// A database that hangs may not heed the context.
	done := make(chan error, 1)
	go func() { done <- a.queue.Ready(ctx) }()
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		a.options.Log.Warn().Err(err).Msg("not ready")
		text(w, http.StatusServiceUnavailable, "not ready: see the log")
		return
	}
	text(w, http.StatusOK, "ready")
}

func text(w http.ResponseWriter, status int, s string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	fmt.Fprintln(w, s)
}

// httpTrouble puts what the HTTP server has to say, such as that a handler
// panicked, into the log: it would write to standard error by itself.
type httpTrouble struct{ log zerolog.Logger }

func (t httpTrouble) Write(text []byte) (int, error) {
	t.log.Warn().Str("error", strings.TrimSpace(string(text))).Msg("HTTP trouble")
	return len(text), nil
}
