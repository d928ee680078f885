package app_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/reviewgate/reviewgate/app"
	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/app/internal/telemetry"
)

// logLine has the fields that connect the lines of a log.
type logLine struct {
	Message  string `json:"message"`
	Delivery string `json:"delivery"`
	Event    string `json:"event"`
	Target   string `json:"target"`
	Job      string `json:"job"`
	JobID    int64  `json:"job_id"`
	Run      string `json:"run"`
	Stage    string `json:"stage"`
	Agent    string `json:"agent"`
	Status   any    `json:"status"`
	Route    string `json:"route"`
}

// logBook is apptest's log, split into lines.
type logBook struct{ apptest.LogBook }

func (l *logBook) lines(t *testing.T, are func(logLine) bool) (out []logLine) {
	t.Helper()
	for text := range strings.Lines(l.String()) {
		var line logLine
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatalf("a log line is not JSON: %v\n%s", err, text)
		}
		if are(line) {
			out = append(out, line)
		}
	}
	return out
}

// canary is in every text that people write.
const canary = "canary7f3a"

// talk is a pull request with a canary in every text that people write, while GitHub fails.
func talk(w *world) (pr *ghtest.PullRequest, guid string) {
	pr = w.Repo.OpenPR(ghtest.PR{
		Title: "feat: " + canary, Body: canary, Head: "feature", Author: "alice",
		Files: ghtest.Files{"store/" + "client.go": apptest.Insecure + "\n// " + canary + "\nconst token = \"ghp_" + strings.Repeat("a1B2c3", 6) + "\" // " + canary + "\n"},
	})
	w.Idle()
	guid = w.GH.Webhook.LastDelivery("pull_request").GUID
	pr.Comment("alice", canary+"\n\n/review\n\n"+canary)
	pr.Comment("bob", "/review "+canary)
	w.Idle()
	// GitHub's own words about a failure are logged, because people did not write them.
	remove := w.GH.On("*", ghtest.First(1, func(x *ghtest.Exchange) { x.Fail(502, "Server Error") }))
	pr.Push(ghtest.Files{"store/more.go": "package store // " + canary + "\n"}, canary)
	w.Idle()
	remove()
	return pr, guid
}

// The ids in the log lead from a delivery to its check.
func TestLogLinesJoin(t *testing.T) {
	t.Parallel()
	book := &logBook{}
	w := startWith(t, ghtest.Options{WebhookSecret: apptest.Secret}, func(w *apptest.World) { w.LogTo = book })
	_, guid := talk(w)

	one := func(what string, lines []logLine) logLine {
		t.Helper()
		if len(lines) != 1 {
			t.Fatalf("%d lines of %s, want one: %+v\n%s", len(lines), what, lines, book)
		}
		return lines[0]
	}
	delivery := one("the delivery", book.lines(t, func(l logLine) bool { return l.Message == "delivery" && l.Delivery == guid }))
	if delivery.Target == "" {
		t.Fatalf("the delivery's line names no target: %+v", delivery)
	}
	jobs := book.lines(t, func(l logLine) bool {
		return l.Message == "job done" && l.Job == "review" && l.Target == delivery.Target
	})
	if len(jobs) == 0 {
		t.Fatalf("no job of %s in\n%s", delivery.Target, book)
	}
	job := jobs[0]
	if job.Run == "" || job.JobID == 0 {
		t.Errorf("the job's line has no id or run: %+v", job)
	}
	of := func(message string) []logLine {
		return book.lines(t, func(l logLine) bool { return l.Message == message && l.Run == job.Run })
	}
	var stages []string
	for _, l := range of("stage") {
		stages = append(stages, l.Stage)
	}
	if want := []string{"normalize", "classify", "compose", "gap-detect", "dispatch", "aggregate"}; !slices.Equal(stages, want) {
		t.Errorf("stages %v of the run, want %v", stages, want)
	}
	if agents := of("agent"); len(agents) == 0 || agents[0].JobID != job.JobID {
		t.Errorf("agents of the run: %+v", agents)
	}
	publish := one("the publish job", book.lines(t, func(l logLine) bool { return l.Message == "job done" && l.Job == "publish" && l.Run == job.Run }))
	one("the review", of("reviewed"))
	var read, wrote bool
	for _, l := range of("GitHub call") {
		read = read || l.JobID == job.JobID && strings.HasPrefix(l.Route, "GET ")
		wrote = wrote || l.JobID == publish.JobID && l.Route == apptest.RoutePatchCheck
	}
	if !read || !wrote {
		t.Errorf("calls of the run: reads %t, writes the check %t:\n%+v", read, wrote, of("GitHub call"))
	}
	commands := book.lines(t, func(l logLine) bool { return l.Message == "job done" && l.Job == "command" })
	if len(commands) == 0 {
		t.Fatal("no line of a command's job")
	}
	for _, c := range commands {
		if c.Target != delivery.Target {
			t.Errorf("the command's job names the target %q, want %q", c.Target, delivery.Target)
		}
		one("the command's delivery", book.lines(t, func(l logLine) bool { return l.Message == "delivery" && l.Delivery == c.Delivery }))
	}
}

// No log line, not even at debug level, and no metric contains a secret, a token, or people's
// words.
func TestLogHasNoWordsOfPeople(t *testing.T) {
	t.Parallel()
	book := &logBook{}
	w := startWith(t, ghtest.Options{WebhookSecret: apptest.Secret}, func(w *apptest.World) { w.LogTo = book })
	talk(w)
	w.Post("pull_request", []byte(`{"action": "opened", "number": "`+canary+`", "pull_request": {"body": "`+canary+`"}}`), nil)
	w.Post("issue_comment", []byte(canary), nil)
	metrics := w.Metrics()
	w.Stop()
	for where, shown := range map[string]string{"the log": book.String(), "/metrics": metrics} {
		for what, text := range map[string]string{
			"what people wrote": canary, "a line of the diff": "InsecureSkipVerify", "the webhook's secret": apptest.Secret,
			"a token": w.GH.Token("acme"), "any token": "ghs_", "a secret of the change": "a1B2c3", "a JWT": "eyJ",
			"the private key": strings.Split(string(w.GH.AppPrivateKeyPEM()), "\n")[3],
		} {
			if at := strings.Index(shown, text); text == "" || at >= 0 {
				t.Errorf("%s has %s (%q): …%s…", where, what, text, shown[max(0, at-300):min(len(shown), at+100)])
			}
		}
	}
}

// A server that is stopped while it starts ends cleanly.
func TestEndsCleanlyAtItsStart(t *testing.T) {
	t.Parallel()
	w := &world{&apptest.World{T: t, GH: ghtest.Start(t, ghtest.Options{}), DB: apptest.Database(t)}}
	a, err := app.New(t.Context(), w.Settings(), app.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := errors.Join(a.Run(ctx), a.Close()); err != nil {
		t.Error(err)
	}
}

// Messages of Go's HTTP server are in the log like all others.
func TestHTTPErrorsAreLogged(t *testing.T) {
	t.Parallel()
	book := &logBook{}
	w := startWith(t, ghtest.Options{WebhookSecret: apptest.Secret}, func(w *apptest.World) { w.LogTo = book })
	w.App.ErrorLog().Print("http: panic serving 127.0.0.1: oh\ngoroutine 1")
	if got := book.lines(t, func(l logLine) bool { return l.Message == "HTTP trouble" }); len(got) != 1 {
		t.Errorf("%d such lines in\n%s", len(got), book)
	}
}

// collector accepts spans in JSON, like an OpenTelemetry collector.
type collector struct {
	*httptest.Server
	mu    sync.Mutex
	spans []span
	text  strings.Builder
	bad   []string
}

type span struct {
	TraceID, SpanID, ParentSpanID, Name string
	StartTimeUnixNano, EndTimeUnixNano  string
	Attributes                          []struct {
		Key   string
		Value map[string]any
	}
}

func (s span) attribute(key string) any {
	for _, a := range s.Attributes {
		if a.Key == key {
			for _, v := range a.Value {
				return v
			}
		}
	}
	return nil
}

func startCollector(t *testing.T) *collector {
	c := &collector{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		var in struct {
			ResourceSpans []struct {
				Resource   struct{ Attributes []struct{ Key string } }
				ScopeSpans []struct{ Spans []span }
			}
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.text.Write(text)
		if err := json.Unmarshal(text, &in); err != nil || r.URL.Path != "/v1/traces" || r.Header.Get("Authorization") != "let me in" || r.Header.Get("Content-Type") != "application/json" {
			c.bad = append(c.bad, r.Method+" "+r.URL.Path+" "+string(text))
		}
		for _, rs := range in.ResourceSpans {
			for _, ss := range rs.ScopeSpans {
				c.spans = append(c.spans, ss.Spans...)
			}
		}
	}))
	t.Cleanup(c.Close)
	return c
}

func TestSpansJoin(t *testing.T) {
	t.Parallel()
	c := startCollector(t)
	w := startWith(t, ghtest.Options{WebhookSecret: apptest.Secret}, func(w *apptest.World) {
		w.Traces = telemetry.Tracing{Endpoint: c.URL + "/v1/traces", Service: "reviewgate", Headers: map[string]string{"Authorization": "let me in"}}
	})
	_, guid := talk(w)
	if err := w.Stop(); err != nil { // this sends the remaining spans
		t.Fatal(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.bad) > 0 {
		t.Fatalf("a request that a collector would refuse: %s", c.bad[0])
	}
	find := func(what string, is func(span) bool) span {
		t.Helper()
		i := slices.IndexFunc(c.spans, is)
		if i < 0 {
			t.Fatalf("no span %s among %d", what, len(c.spans))
		}
		return c.spans[i]
	}
	delivery := find("the delivery", func(s span) bool { return s.Name == "delivery" && s.attribute("reviewgate.delivery") == guid })
	job := find("the job", func(s span) bool {
		return s.Name == "job review" && s.attribute("reviewgate.target") == delivery.attribute("reviewgate.target")
	})
	for _, name := range []string{"stage normalize", "stage dispatch", "agent", "GitHub GET /repos/{owner}/{repo}/pulls/{pull_number}/files"} {
		s := find(name, func(s span) bool { return s.Name == name && s.ParentSpanID == job.SpanID })
		if s.TraceID != job.TraceID || s.StartTimeUnixNano < job.StartTimeUnixNano[:10] || s.attribute("reviewgate.run") != job.attribute("reviewgate.run") {
			t.Errorf("%s does not belong to the job: %+v, %+v", name, s, job)
		}
	}
	for _, text := range []string{canary, apptest.Secret, "ghs_", "InsecureSkipVerify", "let me in"} {
		if strings.Contains(c.text.String(), text) {
			t.Errorf("the spans contain %q", text)
		}
	}
}
