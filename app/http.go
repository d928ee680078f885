package app

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app/api"
)

// HookPath is where GitHub sends its webhooks.
const HookPath = "/api/github/hook"

func (a *App) routes(hook http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle(HookPath, hook)
	mux.Handle(api.Path, a.api)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { text(w, http.StatusOK, "alive") })
	mux.HandleFunc("GET /readyz", a.ready)
	mux.Handle("GET /metrics", promhttp.HandlerFor(a.metrics.Registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError}))
	for pattern, page := range a.options.Pages {
		mux.Handle(pattern, page)
	}
	return mux
}

// ready answers whether the server can store and process webhooks. GitHub's health does not
// count: otherwise an outage of GitHub would make every replica unready, and webhooks would
// be lost.
func (a *App) ready(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), 2*time.Second)
	defer cancel()
	// A call to a hanging database may ignore the context.
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

// httpTrouble writes the HTTP server's messages to the log, for example that a handler
// panicked. By default the HTTP server writes them to standard error.
type httpTrouble struct{ log zerolog.Logger }

func (t httpTrouble) Write(text []byte) (int, error) {
	t.log.Warn().Str("error", strings.TrimSpace(string(text))).Msg("HTTP trouble")
	return len(text), nil
}
