package harness

import (
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// Servers are killed again and again while people and coding agents work on pull requests, and
// webhooks and events fail while the servers are down. In the end every pull request has exactly one
// answer, and each session is decided by the four rules over what its reviewers answered.
func TestChaos(t *testing.T) {
	seed := begin(t)
	onDatabases(t, []string{sqlite, postgres}, func(t *testing.T, s setup) {
		s.seed = seed
		if *flagKills > 20 {
			// Each process requests a token for each repository that it works on. This many
			// starts in a quarter of an hour would need more tokens than an App may request
			// in an hour, so that all servers would wait. The limits by the minute stay.
			limits := ghtest.GitHubLimits()
			limits.RequestsPerHour *= 4
			s.limits, s.logInterval = &limits, 30*time.Second
		}
		s.reviewers = []*reviewer{newReviewer(t, "swift", seed, atOnce), newReviewer(t, "slow", seed, later)}
		w := newWorld(t, s)
		// Reviews take long enough to be killed.
		w.gh.On("*", ghtest.Delay(30*time.Millisecond))
		stopTrouble := func() {}
		if *flagTrouble > 0 {
			stopTrouble = w.trouble().Stop
		}
		k := w.newKiller()
		scripts, stop := w.scripts(or(*flagPulls, sample.Size(3, 5))), make(chan struct{})
		go func() {
			defer close(stop)
			if err := k.run(planKills(seed, or(*flagKills, sample.Size(2, 5)), len(w.servers))); err != nil {
				t.Error(err)
			}
		}()
		pulls, events := play(scripts, *flagRate, stop)
		stopTrouble()
		w.settle(pulls, k, events)
	})
}
