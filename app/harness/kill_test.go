package harness

import (
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/reviewgate/reviewgate/app/ghtest"
)

// blow is one planned kill. It happens after a time, or at a request to GitHub.
type blow struct {
	victim int
	wait   time.Duration // from the start of the previous kill
	// nth is the request of the victim, after that time, at which it dies; 0 means none.
	// after tells whether the request takes effect first. writes tells that reads don't
	// count.
	nth           int
	writes, after bool
	down          time.Duration // until the server is started again
}

// planKills draws n kills. A review whose server dies three times is given up, so most
// servers must live longer than a review takes.
func planKills(seed uint64, n, servers int) []blow {
	const longest = 2500 * time.Millisecond
	r := random(seed, "kills", 0)
	plan := make([]blow, n)
	for i := range plan {
		plan[i] = blow{victim: r.IntN(servers), wait: upTo(r, longest), down: upTo(r, 300*time.Millisecond), writes: r.IntN(2) == 0, after: r.IntN(2) == 0}
		if aimed, nth := r.IntN(2) == 0, 1+r.IntN(12); aimed {
			plan[i].nth = nth
		}
	}
	return plan
}

func upTo(r *rand.Rand, d time.Duration) time.Duration { return time.Duration(r.Int64N(int64(d))) }

// killer carries out a plan and observes the writes to GitHub. It measures how long
// interrupted work takes to be finished, and what is written twice.
type killer struct {
	servers []*server

	mu       sync.Mutex
	aim      *aim
	open     map[int64]*openCheck // on GitHub, by id
	comments map[string]int       // created, by pull request
	twice    []string
	// These are the times when a server was killed, and how long the check runs that were
	// open then took until their end.
	times    []time.Time
	answered []time.Duration
}

type aim struct {
	blow
	hit chan struct{}
}

type openCheck struct {
	head string
	cut  time.Time // time of the first kill while it was open
}

// newKiller makes all requests to GitHub pass the killer.
func (w *world) newKiller() *killer {
	k := &killer{servers: w.servers, open: map[int64]*openCheck{}, comments: map[string]int{}}
	// The killer observes on the inside: a write that takes effect counts, even if its answer
	// is lost.
	w.gh.On("*", k.watch)
	w.gh.On("*", k.strike)
	return k
}

// run kills as planned. Each victim runs again before the next one dies.
func (k *killer) run(plan []blow) error {
	for _, b := range plan {
		time.Sleep(b.wait)
		if b.nth == 0 {
			k.kill(b.victim)
		} else {
			k.ambush(b)
		}
		time.Sleep(b.down)
		if err := k.servers[b.victim].start(); err != nil {
			return err
		}
	}
	return nil
}

// ambush kills the victim at a request. An idle victim makes none, and is killed all the
// same.
func (k *killer) ambush(b blow) {
	const patience = 3 * time.Second
	a := &aim{blow: b, hit: make(chan struct{})}
	k.mu.Lock()
	k.aim = a
	k.mu.Unlock()
	select {
	case <-a.hit:
	case <-time.After(patience):
		k.mu.Lock()
		missed := k.aim == a
		k.aim = nil
		k.mu.Unlock()
		if missed {
			k.kill(b.victim)
		} else {
			<-a.hit
		}
	}
}

// strike is the hook in which an ambush waits.
func (k *killer) strike(x *ghtest.Exchange) {
	k.mu.Lock()
	a := k.aim
	from := x.Header.Get(replicaHeader)
	if a == nil || from != "" && from != strconv.Itoa(a.victim) || a.writes && x.Method == http.MethodGet {
		k.mu.Unlock()
		return
	}
	if a.nth--; a.nth > 0 {
		k.mu.Unlock()
		return
	}
	k.aim = nil
	k.mu.Unlock()
	if a.after {
		x.Proceed()
	}
	k.kill(a.victim)
	close(a.hit)
	x.Drop()
}

func (k *killer) kill(n int) {
	k.servers[n].kill()
	k.mu.Lock()
	defer k.mu.Unlock()
	now := time.Now()
	k.times = append(k.times, now)
	for _, c := range k.open {
		if c.cut.IsZero() {
			c.cut = now
		}
	}
}

// watch records the open check runs and the comments.
func (k *killer) watch(x *ghtest.Exchange) {
	checks := strings.Contains(x.Route, "/check-runs")
	if x.Method == http.MethodGet || !checks && x.Route != createComment {
		return
	}
	resp := x.Proceed()
	var written struct {
		ID      int64
		Status  string
		HeadSHA string `json:"head_sha"`
	}
	if resp.Status >= 300 || json.Unmarshal(resp.Body, &written) != nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if checks {
		k.checkWritten(written.ID, written.HeadSHA, written.Status == "completed")
		return
	}
	pull := x.Params["owner"] + "/" + x.Params["repo"] + "#" + x.Params["issue_number"]
	if k.comments[pull]++; k.comments[pull] > 1 {
		k.twice = append(k.twice, "comment "+strconv.Itoa(k.comments[pull])+" on "+pull)
	}
}

const createComment = "POST /repos/{owner}/{repo}/issues/{issue_number}/comments"

// checkWritten records a check run that was created or updated. The caller must hold the
// lock.
func (k *killer) checkWritten(id int64, head string, completed bool) {
	c := k.open[id]
	switch {
	case !completed && c == nil:
		for _, other := range k.open {
			if other.head == head {
				k.twice = append(k.twice, "open check run on "+head)
			}
		}
		k.open[id] = &openCheck{head: head}
	case completed:
		if c != nil && !c.cut.IsZero() {
			k.answered = append(k.answered, time.Since(c.cut))
		}
		delete(k.open, id)
	}
}

// since counts the kills after a moment.
func (k *killer) since(t time.Time) (n int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, at := range k.times {
		if at.After(t) {
			n++
		}
	}
	return n
}
