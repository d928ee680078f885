package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/outbound"
	"github.com/reviewgate/reviewgate/pipeline"
)

const (
	reviewerSecretKey = "HARNESS_REVIEWER_SECRET"
	reviewerSecret    = "a secret of remote reviewers"
)

// sessionMinutes returns the settings of sessions in minutes: the time until the fallback, and the time
// in which reviewers must answer.
func sessionMinutes() (fallback, deadline int) {
	if measured() {
		return 1, 1
	}
	return 1, 4
}

// deadline is how long reviewers may take.
func deadline() time.Duration {
	_, minutes := sessionMinutes()
	if measured() {
		return time.Duration(minutes) * time.Minute
	}
	return time.Duration(minutes) * shortMinute
}

// configDir is where the servers' config is.
func (w *world) configDir() string { return filepath.Join(w.dir, "config") }

// writeConfig writes the servers' config, if there are reviewers.
func (w *world) writeConfig() {
	if len(w.reviewers) == 0 {
		return
	}
	var agents, ids []string
	for _, r := range w.reviewers {
		agents = append(agents, fmt.Sprintf(`{"id": %q, "name": %q, "kind": "webhook", "description": "Reviews.", "session": true,
			"webhook": {"url": %q, "secret_env": %q, "allow_private": ["127.0.0.1"]}}`, r.name, r.name, r.url, reviewerSecretKey))
		ids = append(ids, fmt.Sprintf("%q", r.name))
	}
	fallback, deadline := sessionMinutes()
	for name, text := range map[string]string{
		"review-agents.json":      "[" + strings.Join(agents, ",") + "]",
		"review-composition.json": fmt.Sprintf(`[{"id": "reviewers", "description": "Reviewers of sessions.", "priority": 50, "trigger": {"type": "always"}, "dispatch": {"agents": [%s]}}]`, strings.Join(ids, ",")),
		"review-settings.json":    fmt.Sprintf(`{"sessions": {"fallback": %d, "deadline": %d}}`, fallback, deadline),
	} {
		if err := os.MkdirAll(w.configDir(), 0o700); err != nil {
			w.t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(w.configDir(), name), []byte(text), 0o600); err != nil {
			w.t.Fatal(err)
		}
	}
}

// reviewer is a remote reviewer. It keeps a record of what it was asked and what it answered.
type reviewer struct {
	t    *testing.T
	name string
	url  string
	// answers draws the reaction to a request that the reviewer has not had before.
	answers func(r *rand.Rand, q *asking) reaction
	posts   sync.WaitGroup // of answers that come later

	mu    sync.Mutex
	rand  *rand.Rand
	asked map[string]*asking // by the request's id
	// messages has the ids of requests for anything but a review, by type.
	messages map[string]map[string]bool
}

// reaction is how a reviewer reacts to a request.
type reaction struct {
	verdict pipeline.SessionVerdict // empty for a reviewer that never answers
	// inResponse says that the answer is in the response. Otherwise it is posted after a while,
	// signed or with the request's token. If twice is set, it is posted a second time.
	inResponse, signed, twice bool
	after                     time.Duration
}

// asking is a request and what became of it.
type asking struct {
	ID           string `json:"id"`
	Type         string `json:"type"`
	Repository   string `json:"repository"`
	Number       int    `json:"number"`
	HeadSHA      string `json:"head_sha"`
	ResultsURL   string `json:"results_url"`
	ResultsToken string `json:"results_token"`

	reaction reaction
	at       time.Time // when it came first
	times    int
	accepted bool // the server said that it has the answer
}

// newReviewer starts a reviewer, which reacts to requests as answers says.
func newReviewer(t *testing.T, name string, seed uint64, answers func(*rand.Rand, *asking) reaction) *reviewer {
	t.Helper()
	r := &reviewer{
		t: t, name: name, answers: answers, rand: random(seed, name, 0),
		asked: map[string]*asking{}, messages: map[string]map[string]bool{},
	}
	s := httptest.NewServer(r)
	r.url = s.URL
	t.Cleanup(func() {
		s.Close()
		r.posts.Wait()
	})
	return r
}

// atOnce answers each request in the response.
func atOnce(r *rand.Rand, _ *asking) reaction {
	return reaction{verdict: drawVerdict(r), inResponse: true}
}

// later answers after a while, and now and then after the deadline or never.
func later(r *rand.Rand, _ *asking) reaction {
	x := reaction{verdict: drawVerdict(r), signed: r.IntN(2) == 0, twice: r.IntN(3) == 0, after: upTo(r, 2*time.Second)}
	switch r.IntN(30) {
	case 0:
		x.verdict = ""
	case 1:
		x.after = deadline() + time.Second
	}
	return x
}

func drawVerdict(r *rand.Rand) pipeline.SessionVerdict {
	switch n := r.IntN(20); {
	case n == 0:
		return pipeline.SessionBlocker
	case n < 6:
		return pipeline.SessionConcerns
	}
	return pipeline.SessionApproved
}

// ServeHTTP takes a request of the server.
func (r *reviewer) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err == nil {
		err = outbound.Verify([]byte(reviewerSecret), req.Header, body, time.Now())
	}
	q := &asking{}
	if err == nil {
		err = json.Unmarshal(body, q)
	}
	if err != nil || q.ID == "" || q.ID != req.Header.Get(outbound.RequestIDHeader) {
		if req.Context().Err() == nil { // otherwise the server died while it sent the request
			r.t.Errorf("%s got an invalid request: %v", r.name, err)
		}
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if q.Type != "review_request" {
		r.note(q)
		w.WriteHeader(http.StatusOK)
		return
	}
	q, first := r.take(q)
	x := q.reaction
	switch {
	case x.inResponse:
		w.WriteHeader(http.StatusOK)
		_, _ = w.Write(r.result(q)) // the server may be dead
		return
	case first && x.verdict != "":
		r.posts.Go(func() { r.post(q) })
	}
	w.WriteHeader(http.StatusAccepted)
}

func (r *reviewer) note(q *asking) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.messages[q.Type] == nil {
		r.messages[q.Type] = map[string]bool{}
	}
	r.messages[q.Type][q.ID] = true
}

// take records a request, and reports whether it is the first with this id.
func (r *reviewer) take(q *asking) (_ *asking, first bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.asked[q.ID]
	if known == nil {
		known, first = q, true
		known.at, known.reaction = time.Now(), r.answers(r.rand, q)
		r.asked[q.ID] = known
	}
	known.times++
	return known, first
}

// result returns the reviewer's answer. It is the same each time. Its timestamp makes it differ from all
// other answers, because a signature counts for one request only.
func (r *reviewer) result(q *asking) []byte {
	issues := ""
	if q.reaction.verdict != pipeline.SessionApproved {
		issues = `{"severity": "minor", "description": "The name could be longer.", "file": "store/a.go", "line": 1}`
	}
	return fmt.Appendf(nil, `{"type": "review_result", "reviewer": %q, "timestamp": %q, "payload": {"verdict": %q, "summary": %q, "issues": [%s]}}`,
		r.name, q.at.UTC().Format(time.RFC3339Nano), q.reaction.verdict, "I say "+string(q.reaction.verdict)+".", issues)
}

// post sends the answer to the request's results_url until the server has it.
func (r *reviewer) post(q *asking) {
	time.Sleep(q.reaction.after)
	times := 1
	if q.reaction.twice {
		times = 2
	}
	for n := range times {
		status := r.send(q)
		if status == http.StatusAccepted && n == 0 || status == http.StatusOK {
			r.mu.Lock()
			q.accepted = true
			r.mu.Unlock()
			continue
		}
		r.t.Errorf("%s answered request %s, attempt %d: %d", r.name, q.ID, n+1, status)
		return
	}
}

// send posts the answer until a server takes it or refuses it, and returns the status.
func (r *reviewer) send(q *asking) int {
	body := r.result(q)
	status, _ := persist(*flagPatience, func() (*http.Request, error) {
		req, err := http.NewRequest(http.MethodPost, q.ResultsURL, bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		if q.reaction.signed {
			req.Header = outbound.Sign([]byte(reviewerSecret), time.Now(), body)
		} else {
			req.Header.Set("Authorization", "Bearer "+q.ResultsToken)
		}
		req.Header.Set("Content-Type", "application/json")
		return req, nil
	})
	return status
}

// persist sends a request again and again until a server answers with something other than "try again".
// It returns 0 if no server does so in time.
func persist(patience time.Duration, request func() (*http.Request, error)) (status int, body []byte) {
	const pause = 300 * time.Millisecond
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for ctx.Err() == nil {
		req, err := request()
		if err != nil {
			return 0, []byte(err.Error())
		}
		if resp, err := apiClient.Do(req.WithContext(ctx)); err == nil {
			body, err = io.ReadAll(resp.Body)
			resp.Body.Close()
			again := resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode == http.StatusBadGateway || resp.StatusCode == http.StatusServiceUnavailable
			if err == nil && !again {
				return resp.StatusCode, body
			}
		}
		time.Sleep(pause)
	}
	return 0, body
}

var apiClient = &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 16, DisableKeepAlives: true}}
