package harness

import (
	"context"
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"time"

	"github.com/reviewgate/reviewgate/app/ghtest"
)

// settle waits until everything is answered, and then a while longer, in which nothing may be
// written twice. Faults that remain fail the test.
func (w *world) settle(pulls []*pull, k *killer, events int) {
	w.t.Helper()
	began := time.Now()
	var f figures
	f.add("database, servers", "%s, %d", w.database, len(w.servers))
	f.add("kills, pull requests, events", "%d, %d, %d", len(k.times), len(pulls), events)

	answered := w.answered(pulls)
	crashed := w.afterCrashes(pulls, k)
	if crashed > 0 {
		answered = w.answered(pulls) && answered
	}
	f.add("all answered", "%v, %s after the last event", answered, short(time.Since(began)))
	f.add("given up after three crashes", "%d, answered after /review", crashed)
	time.Sleep(3 * w.logInterval) // so that remaining requests arrive
	if !until(time.Minute, w.quiet) {
		w.t.Errorf("the servers are still at work: %v", w.servers[0].metrics())
	}

	count := w.reviewed(pulls)
	if w.agents != nil {
		w.sessions(pulls, k, &f)
	}
	f.add("lost", "%d", count[lost])
	for _, what := range k.twice {
		w.t.Errorf("written twice: %s", what)
	}
	f.add("said twice, if only for a while", "%d, %d", count[duplicate], len(k.twice))
	f.add("check runs not completed", "%d", count[unfinished])
	f.add("commands obeyed wrongly, or twice", "%d", count[disobeyed])
	f.add("commands without their answer", "%d; given up after three crashes: %d", count[ignored], w.droppedCommands())
	f.add("could not be completed", "%d", count[gaveUp])
	if len(k.times) > 0 {
		f.add("from a kill to the checks it cut", "%s", spread(k.answered))
	}
	w.deliveries(&f)
	w.calls(&f, len(k.times) > 0)
	f.add("reviews computed again", "%s", w.replay(w.t.Context()))
	f.add("logs of pull requests", "%s", w.learned(pulls))
	f.print(w.t)
}

// replay computes all stored reviews again, while the servers use the database. It returns what
// the command prints. Only the end of ctx may stop it early.
func (w *world) replay(ctx context.Context) string {
	binary, err := build()
	if err != nil {
		w.t.Error(err)
		return ""
	}
	out, err := exec.CommandContext(ctx, binary, "replay", "--all", "--database", w.url).CombinedOutput()
	if err != nil && ctx.Err() == nil {
		w.t.Errorf("replay: %v\n%s", err, out)
	}
	return strings.TrimSpace(string(out))
}

// answered waits until no fault remains, except for reviews that were given up, and no server
// has work left. It reports whether that happened.
func (w *world) answered(pulls []*pull) bool {
	return until(*flagPatience, func() bool {
		for _, faults := range w.faults(pulls) {
			if countOf(gaveUp, faults) == 0 {
				return false
			}
		}
		return w.agents.settled(w, pulls) && w.quiet()
	})
}

// afterCrashes requests the reviews again that were given up because their server had died
// three times, as the check tells people to. It returns their number.
func (w *world) afterCrashes(pulls []*pull, k *killer) (n int) {
	const most = 3
	for p, faults := range w.faults(pulls) {
		for _, f := range faults {
			if f.kind != gaveUp {
				continue
			}
			if kills := k.since(p.lastAsked(f.head)); kills < most {
				w.t.Errorf("given up after only %d kills since it was requested:\n%s", kills, w.tellAll(p, faults))
			}
			p.again(f)
			n++
		}
	}
	return n
}

// deliveries prints how the webhooks were answered.
func (w *world) deliveries(f *figures) {
	failed, came := map[string]bool{}, map[string]bool{}
	for _, d := range w.gh.Webhook.Deliveries() {
		if d.OK() {
			came[d.GUID] = true
		} else {
			failed[d.GUID] = true
		}
	}
	again := 0
	for guid := range failed {
		if came[guid] {
			again++
		}
	}
	f.add("deliveries that failed", "%d, of these sent again with success %d, taken in from the log %d", len(failed), again, w.logLines("took in a lost delivery"))
	f.add("pull requests found by the sweep", "%d", w.logLines("found a pull request to review"))
}

// learnt is how long a server may take to notice a rate limit that another one was given. It
// looks every second.
const learnt = 1500 * time.Millisecond

// calls prints the App's calls to GitHub. A call before the end of a rate limit fails the
// test. Where servers were killed it does not, because GitHub can't know whether the dead
// server had read the refusal.
func (w *world) calls(f *figures, killed bool) {
	refused, own := 0, map[string]int{}
	all := w.gh.Calls.All()
	for _, c := range all {
		if c.Installation == 0 {
			own[c.Route]++
		}
		if c.Status == http.StatusTooManyRequests || c.Status == http.StatusForbidden {
			refused++
		}
	}
	early := w.gh.Calls.EarlyRetries()
	f.add("calls of GitHub", "%d, refused %d, early %d", len(all), refused, len(early))
	f.add("of these as the App itself", "%v", own)
	for _, c := range early {
		if !killed && (len(w.servers) == 1 || c.Early > learnt) {
			w.t.Errorf("call before the limit ended: %s", describe(c))
		}
	}
}

func describe(c ghtest.Call) string {
	return fmt.Sprintf("%s %s at %s, installation %d, %d, %s after it was told", c.Method, c.Path, clock(c.Start), c.Installation, c.Status, c.Early)
}
