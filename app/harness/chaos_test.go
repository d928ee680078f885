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
			// Each look goes ten minutes back, and takes a call for each hundred
			// deliveries. Many looks use up what GitHub lets the App itself call in
			// an hour, of which redeliveries and tokens need most.
			s.logInterval = 30 * time.Second
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
