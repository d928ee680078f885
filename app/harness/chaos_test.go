package harness

import (
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// Servers are killed over and over while people work on pull requests, and
// webhooks fail while they are down. In the end every pull request has its one
// answer.
func TestChaos(t *testing.T) {
	seed := begin(t)
	onDatabases(t, []string{sqlite, postgres}, func(t *testing.T, s setup) {
		s.seed = seed
		if *flagKills > 20 {
			// Each process asks for a token for each repository that it works on. So
			// many starts in a quarter of an hour take more of them than an App may ask
			// for in an hour; then all would wait for the next one. The limits by the
			// minute stay.
			limits := ghtest.GitHubLimits()
			limits.RequestsPerHour *= 4
			s.limits, s.logInterval = &limits, 30*time.Second
		}
		w := newWorld(t, s)
		// Long enough that kills find reviews at work.
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
