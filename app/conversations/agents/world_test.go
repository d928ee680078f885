package agents

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/api"
	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/app/llm/sdk"
	"github.com/reviewgate/reviewgate/app/outbound"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/sessions"
	"github.com/reviewgate/reviewgate/pipeline"
)

func TestMain(m *testing.M) {
	apptest.Dial = sdk.New
	apptest.Main(m)
}

// secret signs the requests to all reviewers of the tests, and their answers.
const secret = "a secret of reviewers"

// world is apptest's world with remote reviewers.
type world struct {
	*apptest.World
	reviewers map[string]*reviewer
	spoken    int // events so far, for their ids
}

// reviewer is a remote reviewer: a real server that records its requests.
type reviewer struct {
	name string
	t    *testing.T
	url  string

	mu       sync.Mutex
	requests []request
	// reply answers a request. Without it, the answer comes later.
	reply func(request) (status int, body string)
	key   string        // signs the requests
	asked chan struct{} // gets a value for each request
}

// request is a request as a reviewer gets it.
type request struct {
	Type          string            `json:"type"`
	ID            string            `json:"id"`
	Repository    string            `json:"repository"`
	Number        int               `json:"number"`
	BaseSHA       string            `json:"base_sha"`
	HeadSHA       string            `json:"head_sha"`
	ResultsURL    string            `json:"results_url"`
	ResultsToken  string            `json:"results_token"`
	Reviewer      string            `json:"reviewer"`
	Targets       []string          `json:"targets"`
	Context       map[string]string `json:"context"`
	Files         []string          `json:"files"`
	FocusAreas    []string          `json:"focus_areas"`
	MaxWords      int               `json:"max_words"`
	Cycle         int               `json:"cycle"`
	Rule          int               `json:"rule"`
	Reviewers     []string          `json:"reviewers"`
	Clarification string            `json:"clarification"`
	URL           string            `json:"url"`
	Summary       string            `json:"summary"`
	People        []string          `json:"people"`

	body []byte // as it came
}

// setup is what a test needs of the world.
type setup struct {
	reviewers string // names of remote reviewers of sessions
	agents    string // more items of the server's agents, each with a comma in front
	policies  string // more agents that the policy dispatches, each with a comma in front
	settings  string // more settings of the server, each with a comma in front
	sessions  string // the section sessions
	keys      map[string]string
	minute    time.Duration
}

// start starts the App with remote reviewers.
func start(t *testing.T, s setup, change ...func(*apptest.World)) *world {
	t.Helper()
	w := &world{reviewers: map[string]*reviewer{}}
	secrets := map[string]string{}
	agents, dispatched := "", ""
	for name := range strings.FieldsSeq(s.reviewers) {
		r := serve(t, name)
		w.reviewers[name], secrets[name] = r, secret
		agents += fmt.Sprintf(`,{"id": %q, "name": %q, "kind": "webhook", "description": "Reviews.", "session": true,
			"webhook": {"url": %q, "secret_env": "REVIEWER_SECRET", "allow_private": ["127.0.0.1"]}}`, name, name, r.url)
		dispatched += fmt.Sprintf(",%q", name)
	}
	if strings.Contains(s.settings, `"escalation_webhook"`) {
		r := serve(t, "")
		w.reviewers[""], secrets[""] = r, secret
		s.settings = strings.ReplaceAll(s.settings, "ESCALATION_URL", r.url)
	}
	if s.sessions == "" {
		s.sessions = "{}"
	}
	files := map[string]string{
		"review-agents.json":      "[" + strings.TrimPrefix(agents+s.agents, ",") + "]",
		"review-composition.json": fmt.Sprintf(`[`+apptest.ShippedModelsOff+`{"id": "reviewers", "description": "Reviewers of sessions.", "priority": 50, "trigger": {"type": "always"}, "dispatch": {"agents": [%s]}}]`, strings.TrimPrefix(dispatched+s.policies, ",")),
		"review-settings.json":    fmt.Sprintf(`{"sessions": %s%s}`, s.sessions, s.settings),
	}
	if dispatched+s.policies == "" {
		delete(files, "review-composition.json")
	}
	with := []func(*apptest.World){apptest.WithServer(files), func(a *apptest.World) {
		a.Secrets, a.Keys, a.Join, a.Minute = secrets, s.keys, 100*time.Millisecond, s.minute
	}}
	w.World = apptest.StartWith(t, ghtest.Options{WebhookSecret: apptest.Secret}, append(with, change...)...)
	return w
}

// serve starts a reviewer. It checks the signature of each request.
func serve(t *testing.T, name string) *reviewer {
	t.Helper()
	r := &reviewer{name: name, t: t, key: secret, asked: make(chan struct{}, 1000)}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, hr *http.Request) {
		r.mu.Lock()
		key := r.key
		r.mu.Unlock()
		body, err := io.ReadAll(hr.Body)
		if err == nil {
			err = outbound.Verify([]byte(key), hr.Header, body, time.Now())
		}
		var q request
		if err == nil {
			err = json.Unmarshal(body, &q)
		}
		if err != nil || q.ID != hr.Header.Get(outbound.RequestIDHeader) {
			t.Errorf("%s got an invalid request: %v", name, err)
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		q.body = body
		r.mu.Lock()
		r.requests = append(r.requests, q)
		reply := r.reply
		r.mu.Unlock()
		status, text := http.StatusAccepted, ""
		if reply != nil {
			status, text = reply(q)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
		r.asked <- struct{}{}
	}))
	t.Cleanup(s.Close)
	r.url = s.URL
	return r
}

// says makes a reviewer answer each request for a review at once.
func (r *reviewer) says(verdict, summary string, issues ...string) {
	r.replies(func(q request) (int, string) {
		if q.Type != "review_request" {
			return http.StatusOK, ""
		}
		return http.StatusOK, result(r.name, verdict, summary, issues...)
	})
}

func (r *reviewer) replies(reply func(request) (int, string)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reply = reply
}

// got returns the requests of a type, oldest first.
func (r *reviewer) got(kind string) (out []request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, q := range r.requests {
		if q.Type == kind {
			out = append(out, q)
		}
	}
	return out
}

// about returns the requests for reviews of a pull request, oldest first.
func (r *reviewer) about(number int) []request {
	return slices.DeleteFunc(r.got("review_request"), func(q request) bool { return q.Number != number })
}

// signsWith changes the secret with which the reviewer verifies requests.
func (r *reviewer) signsWith(key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.key = key
}

// result returns a review result. Each issue is JSON.
func result(reviewer, verdict, summary string, issues ...string) string {
	text, err := json.Marshal(summary)
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf(`{"type": "review_result", "reviewer": %q, "timestamp": %q, "payload": {"verdict": %q, "summary": %s, "issues": [%s]}}`,
		reviewer, time.Now().UTC().Format(time.RFC3339), verdict, text, strings.Join(issues, ", "))
}

// waitFor waits until a reviewer has got n requests for reviews, and returns the nth.
func (w *world) waitFor(name string, n int) request {
	w.Helper()
	r := w.reviewers[name]
	deadline := time.After(apptest.Patience)
	for {
		if got := r.got("review_request"); len(got) >= n {
			return got[n-1]
		}
		select {
		case <-r.asked:
		case <-deadline:
			w.Fatalf("%s got %d requests, want %d", name, len(r.got("review_request")), n)
		}
	}
}

// change opens a pull request with a harmless change and waits for its review.
func (w *world) change(name string) *ghtest.PullRequest {
	w.Helper()
	pr := w.Another(name, ghtest.Files{"store/" + name + ".go": "package store\n\n// " + name + " is new.\nfunc " + name + "() int { return 2 }\n"})
	w.Idle()
	return pr
}

// target returns the pull request in the App's terms.
func (w *world) target(pr *ghtest.PullRequest) ports.Target {
	w.Helper()
	state, err := w.App.Inside().Store.Target(w.Context(), w.Key(pr))
	if err != nil {
		w.Fatal(err)
	}
	return state.Target
}

// speak has an agent report an event about a pull request.
func (w *world) speak(pr *ghtest.PullRequest, agent string, kind pipeline.SessionTrigger, summary string) {
	w.Helper()
	w.spoken++
	e := ports.SessionEvent{ID: fmt.Sprintf("e-%d", w.spoken), Kind: kind, Target: w.target(pr), Agent: agent, Summary: summary}
	if _, err := w.App.Inside().Service.Sessions.Speak(w.Context(), e); err != nil {
		w.Fatalf("%s says %s: %v", agent, kind, err)
	}
}

// state returns the state of a pull request.
func (w *world) state(pr *ghtest.PullRequest) sessions.State {
	w.Helper()
	s, err := w.App.Inside().Service.Sessions.State(w.Context(), ports.Target{Kind: ports.TargetPull, RepoID: w.target(pr).RepoID, Number: pr.Number})
	if err != nil {
		w.Fatal(err)
	}
	return s
}

// settled waits until nothing is under way and returns the state.
func (w *world) settled(pr *ghtest.PullRequest) sessions.State {
	w.Helper()
	return w.until(pr, "settled", func(s *sessions.State) bool { return s.Settled })
}

// until waits for a state of which f returns true.
func (w *world) until(pr *ghtest.PullRequest, what string, f func(*sessions.State) bool) sessions.State {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), apptest.Patience)
	defer cancel()
	for {
		s := w.state(pr)
		if f(&s) {
			return s
		}
		select {
		case <-ctx.Done():
			text, _ := json.MarshalIndent(s, "", "  ")
			w.Fatalf("the session is not %s: %s", what, text)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// wants fails unless the session has a status and a rule, and the check a conclusion.
func (w *world) wants(pr *ghtest.PullRequest, status string, rule int, conclusion string) sessions.State {
	w.Helper()
	s := w.settled(pr)
	w.Idle()
	got := -1
	if s.Rule != nil {
		got = *s.Rule
	}
	if s.Status != status || got != rule {
		w.Errorf("the session is %s by rule %d, want %s by rule %d: %v", s.Status, got, status, rule, s.Reasons)
	}
	if c := w.Check(pr); c.Conclusion != conclusion {
		w.Errorf("the check is %s (%s), want %s", c.Conclusion, c.Title, conclusion)
	}
	return s
}

// answer posts an answer to a request, with the request's token unless change replaces it. It returns the
// status and the body.
func (w *world) answer(q request, body string, change func(*http.Request)) (int, string) {
	w.Helper()
	u, err := url.Parse(q.ResultsURL)
	if err != nil {
		w.Fatal(err)
	}
	req, err := http.NewRequestWithContext(w.Context(), http.MethodPost, u.Path, strings.NewReader(body))
	if err != nil {
		w.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+q.ResultsToken)
	if change != nil {
		change(req)
	}
	return w.Do(req)
}

// signed signs a body as a reviewer does.
func signed(body string, at time.Time) func(*http.Request) {
	return func(r *http.Request) {
		r.Header.Del("Authorization")
		for name, values := range outbound.Sign([]byte(secret), at, []byte(body)) {
			r.Header[name] = values
		}
	}
}

// token makes an API token of an agent for the repository, valid for an hour unless change says otherwise.
func (w *world) token(agent string, change ...func(*ports.APIToken)) (token string, id int64) {
	w.Helper()
	token, hash := api.NewToken()
	t := ports.APIToken{Hash: hash, Agent: agent, ExpiresAt: time.Now().Add(time.Hour), Repository: w.repository(w.Repo)}
	for _, f := range change {
		f(&t)
	}
	id, err := w.App.Inside().Store.AddToken(w.Context(), t)
	if err != nil {
		w.Fatal(err)
	}
	return token, id
}

// repository returns a repository in the App's terms.
func (w *world) repository(r *ghtest.Repo) ports.Target {
	owner, name, _ := strings.Cut(r.FullName(), "/")
	return ports.Target{Kind: ports.TargetPull, Installation: w.GH.InstallationID(owner), RepoID: r.ID(), Owner: owner, Name: name}
}

// call calls the API as an agent.
func (w *world) call(method, path, token string, body any) (int, map[string]any) {
	w.Helper()
	var text bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&text).Encode(body); err != nil {
			w.Fatal(err)
		}
	}
	req, err := http.NewRequestWithContext(w.Context(), method, "http://"+w.App.Addr()+path, &text)
	if err != nil {
		w.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		w.Fatal(err)
	}
	defer resp.Body.Close()
	answer := map[string]any{}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil && !errors.Is(err, io.EOF) {
		w.Fatalf("%s %s: %d: %v", method, path, resp.StatusCode, err)
	}
	return resp.StatusCode, answer
}

// session returns the stored row of a session.
func (w *world) session(pr *ghtest.PullRequest) ports.SessionRow {
	w.Helper()
	row, err := w.App.Inside().Store.Session(w.Context(), w.Key(pr))
	if err != nil {
		w.Fatal(err)
	}
	return row
}

// joinIn sets how long an event waits for others to join it.
func joinIn(d time.Duration) func(*apptest.World) { return func(w *apptest.World) { w.Join = d } }

// secretOf gives the server the secret of another reviewer.
func secretOf(name string) func(*apptest.World) {
	return func(w *apptest.World) { w.Secrets[name] = secret }
}

type sessionState = sessions.State
