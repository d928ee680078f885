package harness

import (
	"sync"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/app/internal/store/pgtest"
)

// Two servers on one PostgreSQL share the work. No pull request is reviewed twice, and two
// servers are no slower than one.
func TestReplicas(t *testing.T) {
	large(t)
	seed := begin(t)
	n := or(*flagPulls, 12)
	var took [2]time.Duration
	var f figures
	for i := range took {
		servers := i + 1
		s := setup{database: postgres, url: pgtest.URL(t), replicas: servers, seed: seed, limits: unlimited(), logInterval: 24 * time.Hour}
		w := newWorld(t, s)
		// The sweep at the start would ask for reviews whose webhooks have not come yet.
		if !until(*flagPatience, func() bool { return w.logLines(`"job":"sweep"`, `"message":"job done"`) > 0 }) {
			t.Fatalf("no sweep at the start within %s", *flagPatience)
		}
		pulls := w.withheld(n, n)
		w.gh.On("*", ghtest.Delay(200*time.Millisecond))
		events := w.burst(pulls)
		send := w.poster(events)
		began := time.Now()
		var wg sync.WaitGroup
		for i := range events {
			wg.Go(func() {
				if err := send(i); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if !until(*flagPatience, func() bool { return len(w.faults(pulls)) == 0 && w.quiet() }) {
			t.Errorf("not every pull request is answered after %s", *flagPatience)
		}
		took[i] = time.Since(began)
		w.reviewed(pulls)
		f.add("servers, pull requests", "%d, %d", servers, n)
		w.shares(&f, n)
		f.add("time", "%s", short(took[i]))
		for _, s := range w.servers {
			s.kill()
		}
	}
	f.add("two against one", "%.2f of the time", took[1].Seconds()/took[0].Seconds())
	f.print(t)
}

// shares prints how the servers shared n reviews, each of which must have been done once.
func (w *world) shares(f *figures, n int) {
	const fair = 0.35
	sum := 0
	for _, s := range w.servers {
		reviews, published := int(s.metrics()["reviewgate_reviews_total"]), s.logLines(`"message":"reviewed"`)
		sum += reviews
		f.add("reviewed, written", "server %d: %d, %d", s.n, reviews, published)
		// With few reviews the shares are a matter of chance.
		if share := float64(reviews) / float64(n); len(w.servers) == 2 && n >= 100 && share < fair {
			w.t.Errorf("server %d did %.0f %% of the reviews, want at least %.0f %%", s.n, 100*share, 100*fair)
		}
	}
	if sum != n {
		w.t.Errorf("%d reviews of %d pull requests", sum, n)
	}
}
