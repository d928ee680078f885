package harness

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/reviewgate/reviewgate/app/ghtest"
)

// script plays events on its own pull requests. Its actions depend only on its random numbers
// and not on what the App does, so they are the same in each run.
type script struct {
	gh     *ghtest.Server
	rand   *rand.Rand
	pulls  []*pull
	opened int // number of opened pulls
	events int
}

// scripts distributes n pull requests over a few scripts, which run in parallel. If there are
// reviewers, agents work on them.
func (w *world) scripts(n int) []*script {
	const actors = 4
	repos := w.repos(min(n, max(4, n/2)))
	if len(w.reviewers) > 0 {
		w.agents = w.newAgents(repos)
	}
	var all []*script
	for i := range min(n, actors) {
		all = append(all, &script{gh: w.gh, rand: random(w.seed, "script", i)})
	}
	for i := range n {
		s := all[i%len(all)]
		p := &pull{repo: repos[i%len(repos)], name: fmt.Sprintf("change-%d", i), author: "alice", base: "main", agents: w.agents}
		if i%5 == 4 {
			p.author = "carol" // carol may only read, but may ask for a review of her own pull request
		}
		s.pulls = append(s.pulls, p)
	}
	return all
}

// play runs all scripts until stop is closed, with rate events a second in total. At the end
// all pull requests are open or closed.
func play(all []*script, rate float64, stop <-chan struct{}) (pulls []*pull, events int) {
	var wg sync.WaitGroup
	for _, s := range all {
		wg.Go(func() { s.play(float64(time.Second)*float64(len(all))/rate, stop) })
	}
	wg.Wait()
	for _, s := range all {
		pulls = append(pulls, s.pulls...)
		events += s.events
	}
	return pulls, events
}

func (s *script) play(pause float64, stop <-chan struct{}) {
	for {
		s.step()
		select {
		case <-time.After(time.Duration(pause * 2 * s.rand.Float64())):
		case <-stop:
			for s.opened < len(s.pulls) {
				s.open()
			}
			return
		}
	}
}

func (s *script) step() {
	if s.opened == 0 || s.opened < len(s.pulls) && s.rand.IntN(2) == 0 {
		s.open()
		return
	}
	p := s.pulls[s.rand.IntN(s.opened)]
	draw, content := s.rand.IntN(total(actions)), s.rand.IntN(2) == 0
	for _, a := range actions {
		if draw -= a.weight; draw >= 0 {
			continue
		}
		switch {
		case !p.open:
			p.reopen()
		case a.do != nil:
			a.do(p, content)
		default:
			s.redeliver(p)
		}
		s.events++
		return
	}
}

func (s *script) open() {
	s.pulls[s.opened].begin(s.rand.IntN(2) == 0)
	s.opened++
	s.events++
}

// actions are the actions on open pull requests, and their weights.
var actions = []struct {
	weight int
	do     func(p *pull, chance bool)
}{
	{30, (*pull).push},
	{6, (*pull).forcePush},
	{8, (*pull).edit},
	{6, (*pull).retarget},
	{12, func(p *pull, _ bool) { p.command("alice", true) }},
	{6, func(p *pull, _ bool) { p.command("bob", false) }},
	{4, func(p *pull, _ bool) { p.command(p.author, true) }},
	{6, func(p *pull, _ bool) { p.say() }},
	{6, func(p *pull, _ bool) { p.close() }},
	{5, func(p *pull, _ bool) { p.rerequest() }},
	{5, (*pull).queue},
	{6, nil}, // a delivery is repeated
	{20, (*pull).speak},
	{5, func(p *pull, _ bool) { p.resume() }},
}

func total(all []struct {
	weight int
	do     func(*pull, bool)
}) (sum int) {
	for _, a := range all {
		sum += a.weight
	}
	return sum
}

// redeliver presses "Redeliver" in the App's delivery log.
func (s *script) redeliver(p *pull) {
	log := s.gh.Webhook.Deliveries()
	if len(log) == 0 {
		return
	}
	d := log[int(s.rand.Float64()*float64(len(log)))]
	if again, err := s.gh.Webhook.Redeliver(d.GUID); err == nil {
		p.tell("redelivered %s %s of repository %d (%s): %s", d.Event, d.Action, d.RepositoryID, d.GUID, again.Outcome)
	}
}
