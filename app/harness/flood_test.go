package harness

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/api"
	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/pipeline"
)

const (
	floodRate = 1000 // events a second at the API
	maxWaits  = 200  // GETs that wait
	ownWaits  = 20   // of one token
	// maxMore bounds the memory that a flood may take beyond that of the burst alone, in bytes.
	maxMore = 96 << 20
)

// While deliveries come, the API is flooded with events that have valid tokens, with events that have
// invented tokens, and with GETs that wait. No delivery may be lost or refused. If the API limits a
// request, it says when to send it again. The times of deliveries are printed, beside those of a burst
// without a flood, but not judged.
func TestFlood(t *testing.T) {
	large(t)
	seed := begin(t)
	onDatabases(t, []string{sqlite}, func(t *testing.T, s setup) {
		var f figures
		var alone int64
		for _, kind := range []struct {
			name                  string
			valid, wrong, waiting bool
		}{
			{name: "no flood"},
			{name: "events, valid tokens", valid: true},
			{name: "events, wrong tokens", wrong: true},
			{name: "GETs that wait", waiting: true},
			{name: "all three", valid: true, wrong: true, waiting: true},
		} {
			if !measured() && (kind.valid || kind.wrong || kind.waiting) && !(kind.valid && kind.wrong) {
				continue // all three together are enough
			}
			s := s
			s.seed, s.limits, s.logInterval = seed, unlimited(), day
			s.reviewers = []*reviewer{newReviewer(t, "swift", seed, approves)}
			w := newWorld(t, s)
			hooks := or(*flagHooks, 100)
			pulls := w.withheld(or(*flagPulls, hooks/10), hooks)
			for _, p := range pulls {
				p.renewals = hooks // events may begin cycles
			}
			target := w.unsettled()
			tokens := w.floodTokens(target.repo, pulls)
			w.gh.On("*", ghtest.Delay(callLatency))

			burst := w.burst(pulls)
			ctx, stop := context.WithCancel(t.Context())
			d := &flood{t: t, world: w, statuses: map[string]*atomic.Int64{}}
			if kind.waiting {
				d.wait(ctx, target, tokens[:maxWaits/ownWaits])
			}
			if kind.valid {
				d.events(ctx, "valid", func(i int) (string, int) { return tokens[i%len(tokens)].text, tokens[i%len(tokens)].pull(i) })
			}
			if kind.wrong {
				d.events(ctx, "wrong", func(int) (string, int) {
					token, _ := api.NewToken()
					return token, 1
				})
			}
			ack := pace(t, hooks, w.poster(burst))
			stop()
			d.running.Wait()
			if !until(*flagPatience, func() bool { return len(w.faults(pulls)) == 0 && w.quiet() }) {
				t.Errorf("%s: not every pull request is answered %s after the burst", kind.name, *flagPatience)
			}
			w.reviewed(pulls)
			w.servers[0].note()
			peak := w.servers[0].peak
			f.add(kind.name+": acknowledged", "%s", spread(ack))
			f.add("  answers of the API", "%s", d.told())
			f.add("  peak memory", "%s", mb(peak))
			if alone == 0 {
				alone = peak
			} else if peak > alone+maxMore {
				t.Errorf("%s: peak memory %s, without a flood %s", kind.name, mb(peak), mb(alone))
			}
			for _, s := range w.servers {
				s.kill()
			}
		}
		f.print(t)
	})
}

// approves approves everything at once, but never answers about the repository in which GETs wait.
func approves(_ *rand.Rand, q *asking) reaction {
	if q.Repository == waitRepo {
		return reaction{}
	}
	return reaction{verdict: pipeline.SessionApproved, inResponse: true}
}

const waitRepo = "wait/here"

// unsettled opens a pull request with a cycle that is not decided.
func (w *world) unsettled() *pull {
	w.t.Helper()
	r := w.gh.Repo(waitRepo)
	r.Commit("main", ghtest.Files{"README.md": "# shop\n"}, "start")
	p := &pull{repo: r, name: "change", author: "alice"}
	p.begin(false)
	if !until(*flagPatience, func() bool { return len(p.CheckRuns()) > 0 && w.quiet() }) {
		w.t.Fatalf("%s is not reviewed", waitRepo)
	}
	a := &agents{t: w.t, front: w.front, tokens: map[string]string{waitRepo + " claude": w.newToken(r, "claude")}, spoke: map[*pull][]*spoken{}}
	a.speak(p, "claude", "first", "milestone", false)
	a.talks.Wait()
	asked := func() bool {
		w.reviewers[0].mu.Lock()
		defer w.reviewers[0].mu.Unlock()
		return len(w.reviewers[0].asked) > 0
	}
	if !until(*flagPatience, func() bool { return asked() && w.quiet() }) {
		w.t.Fatalf("nobody is asked about %s", waitRepo)
	}
	return p
}

// floodToken is a token and the pull requests of its repository.
type floodToken struct {
	text    string
	numbers []int
}

func (f floodToken) pull(i int) int { return f.numbers[i%len(f.numbers)] }

// floodTokens creates tokens: first those for GETs that wait, which also send events, and then those for
// the pull requests of the burst.
func (w *world) floodTokens(waiting *ghtest.Repo, pulls []*pull) (all []floodToken) {
	for i := range maxWaits / ownWaits {
		all = append(all, floodToken{w.newToken(waiting, fmt.Sprintf("waiter-%d", i)), []int{1}})
	}
	numbers := map[*ghtest.Repo][]int{}
	var repos []*ghtest.Repo
	for _, p := range pulls {
		if numbers[p.repo] == nil {
			repos = append(repos, p.repo)
		}
		numbers[p.repo] = append(numbers[p.repo], p.Number)
	}
	n := 20
	if measured() {
		n = 100
	}
	for i := range n {
		r := repos[i%len(repos)]
		all = append(all, floodToken{w.newToken(r, fmt.Sprintf("agent-%d", i)), numbers[r]})
	}
	return all
}

// flood sends requests to the API and counts the answers.
type flood struct {
	t       *testing.T
	world   *world
	running sync.WaitGroup

	mu       sync.Mutex
	statuses map[string]*atomic.Int64
	order    []string
}

func (f *flood) count(what string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.statuses[what] == nil {
		f.statuses[what] = new(atomic.Int64)
		f.order = append(f.order, what)
	}
	f.statuses[what].Add(1)
}

func (f *flood) told() string {
	if len(f.order) == 0 {
		return "none"
	}
	var all []string
	for _, what := range f.order {
		all = append(all, fmt.Sprintf("%s %d", what, f.statuses[what].Load()))
	}
	return strings.Join(all, ", ")
}

// events sends events at a steady rate until ctx ends. next returns the token and the pull request of
// the nth event. The senders have several addresses.
func (f *flood) events(ctx context.Context, name string, next func(int) (token string, pull int)) {
	const inFlight, addresses = 128, 20
	var clients []*http.Client
	for i := range addresses {
		dialer := &net.Dialer{Timeout: 5 * time.Second, LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 1, byte(1+i))}}
		transport := &http.Transport{MaxIdleConnsPerHost: inFlight, DialContext: dialer.DialContext}
		f.t.Cleanup(transport.CloseIdleConnections)
		clients = append(clients, &http.Client{Timeout: 30 * time.Second, Transport: transport})
	}
	slots := make(chan struct{}, inFlight)
	f.running.Go(func() {
		start := time.Now()
		for i := 0; ctx.Err() == nil; i++ {
			time.Sleep(time.Until(start.Add(time.Duration(i) * time.Second / floodRate)))
			token, pull := next(i)
			slots <- struct{}{}
			f.running.Go(func() {
				defer func() { <-slots }()
				body := fmt.Sprintf(`{"id": "%s-%d", "pr": %d, "kind": "milestone", "summary": "The stock is read."}`, name, i, pull)
				req, err := http.NewRequest(http.MethodPost, f.world.front+"/api/v1/events", strings.NewReader(body))
				if err != nil {
					f.t.Error(err)
					return
				}
				req.Header.Set("Content-Type", "application/json")
				f.do(name, clients[i%addresses], req, token)
			})
		}
	})
}

// wait sends as many GETs that wait as the API allows, until ctx ends.
func (f *flood) wait(ctx context.Context, p *pull, tokens []floodToken) {
	transport := &http.Transport{MaxIdleConnsPerHost: maxWaits}
	f.t.Cleanup(transport.CloseIdleConnections)
	client := &http.Client{Transport: transport}
	for i := range maxWaits {
		f.running.Go(func() {
			for ctx.Err() == nil {
				req, err := http.NewRequest(http.MethodGet, fmt.Sprintf("%s/api/v1/pulls/%s/%d?wait=3s", f.world.front, waitRepo, p.Number), http.NoBody)
				if err != nil {
					f.t.Error(err)
					return
				}
				if f.do("wait", client, req, tokens[i/ownWaits].text) != http.StatusOK {
					select {
					case <-ctx.Done():
					case <-time.After(time.Second):
					}
				}
			}
		})
	}
}

// do sends a request, counts its answer and judges it.
func (f *flood) do(name string, client *http.Client, req *http.Request, token string) (status int) {
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := client.Do(req)
	if err != nil {
		f.t.Errorf("%s: %v", name, err)
		return 0
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		f.t.Errorf("%s: %v", name, err)
	}
	f.count(fmt.Sprintf("%s %d", name, resp.StatusCode))
	switch resp.StatusCode {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		if resp.Header.Get("Retry-After") == "" {
			f.t.Errorf("%s: %s without Retry-After: %s", name, resp.Status, text)
		}
	case http.StatusAccepted, http.StatusOK:
		if name == "wrong" {
			f.t.Errorf("a wrong token is answered with %s: %s", resp.Status, text)
		}
	case http.StatusUnauthorized:
		if name != "wrong" {
			f.t.Errorf("%s: %s: %s", name, resp.Status, text)
		}
	default:
		f.t.Errorf("%s: %s: %s", name, resp.Status, text)
	}
	return resp.StatusCode
}
