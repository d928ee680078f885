package harness

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app"
	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/app/llm/sdk"
)

// agents are coding agents that work on pull requests and report events at the API.
type agents struct {
	t      *testing.T
	front  string
	tokens map[string]string // by repository and agent
	talks  sync.WaitGroup

	mu    sync.Mutex
	spoke map[*pull][]*spoken
	again int // repeated events that the server knew
}

// spoken is an event of an agent and its answer.
type spoken struct {
	agent, id string
	status    int
	refusal   string
}

var agentNames = []string{"claude", "codex"}

var eventKinds = []string{"milestone", "blocker", "request_review"}

// newAgents creates tokens for agents in the repositories.
func (w *world) newAgents(repos []*ghtest.Repo) *agents {
	a := &agents{t: w.t, front: w.front, tokens: map[string]string{}, spoke: map[*pull][]*spoken{}}
	for _, r := range repos {
		for _, agent := range agentNames {
			a.tokens[r.FullName()+" "+agent] = w.newToken(r, agent)
		}
	}
	w.t.Cleanup(a.talks.Wait)
	return a
}

// newToken creates a token as "reviewgate token create" does.
func (w *world) newToken(r *ghtest.Repo, agent string) string {
	w.t.Helper()
	env := map[string]string{}
	for _, line := range w.servers[0].env {
		name, value, _ := strings.Cut(line, "=")
		env[name] = value
	}
	settings, err := app.LoadSettings(func(key string) string { return env[key] }, "", sdk.New)
	if err != nil {
		w.t.Fatal(err)
	}
	owner, name, _ := strings.Cut(r.FullName(), "/")
	token, _, err := app.CreateToken(w.t.Context(), settings, app.NewToken{Owner: owner, Name: name, Agent: agent, ValidFor: day}, zerolog.Nop())
	if err != nil {
		w.t.Fatalf("create a token for %s: %v", r.FullName(), err)
	}
	return token
}

// speak has an agent report an event about a pull request, and retry until a server has accepted or
// refused it. If twice is set, the agent then sends an accepted event once more.
func (a *agents) speak(p *pull, agent, id, kind string, twice bool) {
	s := &spoken{agent: agent, id: id}
	a.mu.Lock()
	a.spoke[p] = append(a.spoke[p], s)
	a.mu.Unlock()
	a.talks.Go(func() {
		status, text := a.say(p, s, kind)
		repeated := false
		if status == http.StatusAccepted && twice {
			var answer struct{ Duplicate bool }
			again, text := a.say(p, s, kind)
			err := json.Unmarshal(text, &answer)
			if again != http.StatusAccepted || err != nil || !answer.Duplicate {
				a.t.Errorf("event %s of %s again: %d %s", id, agent, again, text)
			}
			repeated = true
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		s.status, s.refusal = status, string(text)
		if repeated {
			a.again++
		}
	})
}

func (a *agents) say(p *pull, s *spoken, kind string) (status int, body []byte) {
	text := fmt.Sprintf(`{"id": %q, "pr": %d, "kind": %q, "summary": "The stock is read.", "files": ["store/a.go"]}`, s.id, p.Number, kind)
	return persist(*flagPatience, func() (*http.Request, error) {
		req, err := http.NewRequest(http.MethodPost, a.front+"/api/v1/events", bytes.NewReader([]byte(text)))
		if err == nil {
			req.Header.Set("Authorization", "Bearer "+a.tokens[p.repo.FullName()+" "+s.agent])
			req.Header.Set("Content-Type", "application/json")
		}
		return req, err
	})
}

// state reads the state of a pull request at the API.
func (a *agents) state(p *pull) (status int, body []byte) {
	return persist(*flagPatience, func() (*http.Request, error) {
		req, err := http.NewRequest(http.MethodGet, fmt.Sprintf("%s/api/v1/pulls/%s/%d", a.front, p.repo.FullName(), p.Number), http.NoBody)
		if err == nil {
			req.Header.Set("Authorization", "Bearer "+a.tokens[p.repo.FullName()+" "+agentNames[0]])
		}
		return req, err
	})
}

// all waits for the answers to all events, and returns the events about a pull request.
func (a *agents) all(p *pull) []*spoken {
	a.talks.Wait()
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.spoke[p]
}
