package harness

import (
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/ghtest"
)

// trouble makes GitHub fail in every way that the stand-in knows: one request in five.
func (w *world) trouble() *ghtest.Trouble {
	trouble := ghtest.NewTrouble(w.seed, ghtest.TroubleOptions{
		MaxLatency: 50 * time.Millisecond,
		Errors:     0.1, Resets: 0.04, Lost: 0.03, Truncated: 0.02, Secondary: 0.005, Primary: 0.005,
		MinRefusal: time.Second, MaxRefusal: 3 * time.Second,
	})
	w.gh.On("*", trouble.Hook)
	return trouble
}

// GitHub fails while people work on pull requests. After GitHub has recovered, every pull
// request gets exactly one answer.
func TestTrouble(t *testing.T) {
	large(t)
	seed := begin(t)
	onDatabases(t, []string{sqlite}, func(t *testing.T, s setup) {
		s.seed = seed
		w := newWorld(t, s)
		trouble := w.trouble()
		k := w.newKiller()
		lasts := *flagTrouble
		if lasts == 0 {
			lasts = 3 * time.Second
		}
		stop := make(chan struct{})
		time.AfterFunc(lasts, func() { close(stop) })
		pulls, events := play(w.scripts(or(*flagPulls, 5)), *flagRate, stop)
		trouble.Stop()
		w.settle(pulls, k, events)
		for kind, n := range trouble.Counts() {
			t.Logf("trouble: %d of kind %s", n, kind)
		}
	})
}
