package telemetry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"github.com/reviewgate/reviewgate/pipeline"
)

func values(t *testing.T, m *Metrics, metric, label string) map[string]int {
	t.Helper()
	all, err := m.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]int{}
	for _, f := range all {
		if f.GetName() != metric {
			continue
		}
		for _, s := range f.Metric {
			for _, l := range s.Label {
				if l.GetName() == label {
					out[l.GetValue()]++
				}
			}
		}
	}
	return out
}

func metrics(depth func() (Queue, error)) *Metrics {
	return New(Options{Version: "1", Agents: []string{"security-reviewer", "build-reviewer"}, Depth: depth})
}

// Agents that repositories name, and unsigned events, do not create their own series.
func TestLabelsAreLimited(t *testing.T) {
	m := metrics(func() (Queue, error) { return Queue{}, nil })
	for i := range 1000 {
		m.Agent(fmt.Sprint("mine-", i), "ok", time.Second)
		m.Delivery(fmt.Sprint("event_", i), "no_op", time.Second)
	}
	m.Agent("build-reviewer", "ok", time.Second)
	if got := values(t, m, "reviewgate_agent_seconds", "agent"); len(got) != 2 || got[other] != 1 || got["build-reviewer"] != 1 {
		t.Errorf("agents %v", got)
	}
	if got := values(t, m, "reviewgate_deliveries_total", "event"); len(got) != maxEvents+1 || got["event_0"] != 1 || got[other] != 1 {
		t.Errorf("%d events", len(got))
	}
}

// Tokens are counted by kind, each once, and impossible counts never decrease a counter.
func TestModelUse(t *testing.T) {
	m := metrics(func() (Queue, error) { return Queue{}, nil })
	m.ModelUse(pipeline.ModelUse{Model: "big", Input: 100, Cached: 60, Output: 7, CostUSD: 0.25})
	m.ModelUse(pipeline.ModelUse{Model: "big", Input: 10, Cached: 0, Output: 3, CostUSD: 0.5})
	m.ModelUse(pipeline.ModelUse{Model: "big", Input: -5, Cached: 5, Output: -1, CostUSD: -1})
	got := map[string]float64{}
	all, err := m.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		if !strings.HasPrefix(f.GetName(), "reviewgate_model_") {
			continue
		}
		for _, s := range f.Metric {
			name := f.GetName()
			for _, l := range s.Label {
				name += " " + l.GetValue()
			}
			got[name] = s.Counter.GetValue()
		}
	}
	want := map[string]float64{
		"reviewgate_model_tokens_total input big": 50, "reviewgate_model_tokens_total cached big": 65, "reviewgate_model_tokens_total output big": 10,
		"reviewgate_model_cost_dollars_total big": 0.75,
	}
	if !maps.Equal(got, want) {
		t.Errorf("counted %v, want %v", got, want)
	}
}

func TestDatabaseDown(t *testing.T) {
	for up, err := range map[float64]error{0: errors.New("down"), 1: nil} {
		m := metrics(func() (Queue, error) { return Queue{Waiting: 3}, err })
		all, gerr := m.Registry.Gather()
		if gerr != nil {
			t.Fatal(gerr)
		}
		got := map[string]float64{}
		for _, f := range all {
			got[f.GetName()] = f.Metric[0].GetGauge().GetValue()
		}
		if g, there := got["reviewgate_database_up"]; !there || g != up {
			t.Errorf("database_up is %v (%t), want %v", g, there, up)
		}
		if _, waiting := got["reviewgate_queue_waiting"]; waiting != (err == nil) {
			t.Errorf("queue_waiting there: %t, with error %v", waiting, err)
		}
	}
}

// The rest of a limit is shown as long as the limit lasts.
func TestRateLeftExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := metrics(func() (Queue, error) { return Queue{}, nil })
		m.Call("GET /app", "200", "7", time.Second, 12)
		time.Sleep(ratePeriod)
		m.Call("GET /app", "200", "8", time.Second, 4000)
		m.Call("GET /app", "200", "9", time.Second, -1)
		const name = "reviewgate_github_rate_remaining"
		if got := values(t, m, name, "installation"); len(got) != 2 || got["7"] != 1 || got["8"] != 1 {
			t.Errorf("shown %v, want those of installations 7 and 8", got)
		}
		time.Sleep(time.Second)
		if got := values(t, m, name, "installation"); len(got) != 1 || got["8"] != 1 {
			t.Errorf("shown %v, want only that of installation 8", got)
		}
	})
}

func TestNoTracesWithoutAnEndpoint(t *testing.T) {
	tr := NewTracer(Tracing{}, "1", zerolog.Nop())
	goleak.VerifyNone(t)
	ctx, end := tr.Begin(t.Context(), "job")
	tr.Past(ctx, "stage", time.Now(), time.Second, "")
	end("")
	if err := tr.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// A collector that is unreachable, slow or hostile costs only a line in the log. The key is
// sent to no other host and is not logged.
func TestFailingCollector(t *testing.T) {
	var elsewhere bool
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere = true }))
	defer other.Close()
	away := httptest.NewServer(nil)
	away.Close()
	moved := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer moved.Close()
	for _, url := range []string{away.URL, moved.URL, strings.Replace(away.URL, "://", "://user:hunter2@", 1), away.URL + "/hunter2?key=hunter2", moved.URL + "?key=hunter2"} {
		var log bytes.Buffer
		tr := NewTracer(Tracing{Endpoint: url, Headers: map[string]string{"Authorization": "hunter2"}}, "1", zerolog.New(&log))
		tr.Past(context.Background(), "delivery", time.Now(), time.Second, "")
		if err := tr.Close(t.Context()); err != nil {
			t.Errorf("%s: %v", url, err)
		}
		if !strings.Contains(log.String(), "spans not sent") || strings.Contains(log.String(), "hunter2") {
			t.Errorf("%s: log %s", url, &log)
		}
	}
	if elsewhere {
		t.Error("the spans and their key went where the collector pointed")
	}
}

// Faults that the SDK finds, such as in its own variables, are logged.
func TestSDKErrorsAreLogged(t *testing.T) {
	t.Setenv("OTEL_TRACES_SAMPLER", "sometimes")
	var log bytes.Buffer
	tr := NewTracer(Tracing{Endpoint: "http://127.0.0.1:1"}, "1", zerolog.New(&log))
	if err := tr.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if !strings.Contains(log.String(), `"error":"unsupported sampler: sometimes"`) {
		t.Errorf("log %s", &log)
	}
}
