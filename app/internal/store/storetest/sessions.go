package storetest

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
)

// sessionFixture is a fixture with helpers for the tests of sessions.
type sessionFixture struct{ *fixture }

var sessionSettings = ports.SessionSettings{Join: 5 * time.Second, Fallback: 15 * time.Minute, FocusAreas: []string{"architecture", "tests"}, MaxWords: 200}

func milestone(g ports.Target, agent, id string) ports.SessionEvent {
	return ports.SessionEvent{ID: id, Kind: pipeline.TriggerMilestone, Target: g, Agent: agent, Summary: "I did " + id}
}

// byPerson returns the event of a person's /review.
func byPerson(g ports.Target, id string) ports.SessionEvent {
	return ports.SessionEvent{ID: id, Kind: pipeline.TriggerPerson, Target: g}
}

func (f sessionFixture) say(t *testing.T, e ports.SessionEvent, want ports.Spoken) {
	t.Helper()
	got, err := f.Speak(f.ctx, e, sessionSettings)
	if err != nil || got != want {
		t.Fatalf("Speak(%s) = %+v, %v; want %+v", e.ID, got, err, want)
	}
}

func (f sessionFixture) wantRefused(t *testing.T, e ports.SessionEvent, want error) {
	t.Helper()
	got, err := f.Speak(f.ctx, e, sessionSettings)
	if !errors.Is(err, want) || got != (ports.Spoken{}) {
		t.Errorf("Speak(%s) = %+v, %v; want %v", e.ID, got, err, want)
	}
}

// fire calls Fire, which must change the wanted number of targets.
func (f sessionFixture) fire(t *testing.T, when string, want int) {
	t.Helper()
	if n, err := f.Fire(f.ctx); err != nil || n != want {
		t.Fatalf("%s: Fire = %d, %v; want %d", when, n, err, want)
	}
}

func (f sessionFixture) session(t *testing.T, g ports.Target) ports.SessionRow {
	t.Helper()
	r, err := f.Session(f.ctx, g.Key())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// cycle has an agent report an event, which must begin the cycle with this number.
func (f sessionFixture) cycle(t *testing.T, g ports.Target, number int) {
	t.Helper()
	f.say(t, milestone(g, "claude", fmt.Sprint("m", number)), ports.Spoken{Cycle: number})
	f.clock.pass(5 * time.Second)
	f.fire(t, "the events have joined", 1)
	if r := f.session(t, g); r.Cycle.Number != number || !r.Running {
		t.Fatalf("cycle %d runs (%v), want %d", r.Cycle.Number, r.Running, number)
	}
}

// publish publishes a review of the target's wanted generation, which changes the session as o says, and
// finishes it.
func (f sessionFixture) publish(t *testing.T, g ports.Target, o ports.SessionOutcome) {
	t.Helper()
	st := f.state(t, g.Key())
	r := stored(fmt.Sprintf("%s run %d", g.Key(), st.Wanted), g, st.Wanted, g.HeadSHA)
	r.Session = o
	f.save(t, r, true)
	f.finish(t, g, false)
}

func (f sessionFixture) finish(t *testing.T, g ports.Target, gaveUp bool) {
	t.Helper()
	if _, err := f.Finish(f.ctx, f.acquire(t, g.Key()), f.state(t, g.Key()).Wanted, gaveUp); err != nil {
		t.Fatal(err)
	}
}

// decided returns the outcome of a review that decides a cycle by rule 4.
func decided(cycle int) ports.SessionOutcome {
	return ports.SessionOutcome{Cycle: cycle, State: &pipeline.SessionState{Cycle: cycle, HeadSHA: "aaa", Rule: 4}}
}

// paused returns the outcome of a review that pauses the session.
func paused(cycle int) ports.SessionOutcome {
	o := decided(cycle)
	o.State.Rule, o.State.Pause = 2, &pipeline.SessionPause{Cycle: cycle, Rule: 2, Reviewers: pipeline.List[string]{"codex", "sme"}, Clarification: "which?"}
	return o
}

// resumedBy returns the effect of a person's command that resumes a paused session.
func resumedBy(login string) ports.Effect {
	return ports.Effect{ResumeSession: &pipeline.SessionResume{By: login, Pause: paused(1).State.Pause, Answers: pipeline.List[string]{"codex concerns", "sme concerns"}}}
}

// wantAsked fails unless the wanted number of reviews was asked for, the last time for the reason.
func (f sessionFixture) wantAsked(t *testing.T, when string, g ports.Target, wanted int64, reason string) {
	t.Helper()
	if st := f.state(t, g.Key()); st.Wanted != wanted || st.Reason != reason {
		t.Errorf("%s: generation %d is wanted, reason %q; want %d, %q", when, st.Wanted, st.Reason, wanted, reason)
	}
}

var sessionTests = with(func(f *fixture) sessionFixture { return sessionFixture{f} }, map[string]func(*testing.T, sessionFixture){
	"begins when an agent reports": func(t *testing.T, f sessionFixture) {
		g := pull(1, "aaa")
		_, err := f.Session(f.ctx, g.Key())
		wantErr(t, "before", err, ports.ErrNotFound)
		f.say(t, milestone(g, "claude", "m1"), ports.Spoken{Cycle: 1})
		now := f.clock.Now()
		want := ports.SessionRow{Key: g.Key(), SpokeAt: now, GatherAt: now.Add(5 * time.Second), FallbackAt: now.Add(15 * time.Minute), Pending: 1}
		if diff := cmp.Diff(want, f.session(t, g)); diff != "" {
			t.Errorf("the session (-want +got):\n%s", diff)
		}
		if st := f.state(t, g.Key()); st.Wanted != 0 || st.Owner != "acme" || st.Number != 1 {
			t.Errorf("the target is %+v", st)
		}
		f.wantJobs(t, 0, "before the cycle")
		f.clock.pass(5*time.Second - time.Microsecond)
		f.fire(t, "too early", 0)
		f.clock.pass(time.Microsecond)
		f.fire(t, "in time", 1)
		f.fire(t, "again", 0)
		f.wantAsked(t, "begun", g, 1, "milestone by claude")
		f.wantJobs(t, 1, "begun")
		if st := f.state(t, g.Key()); !st.Rerun.Decide {
			t.Error("the agents run again")
		}
	},
	"events within a few seconds join one cycle": func(t *testing.T, f sessionFixture) {
		g := pull(1, "aaa")
		first, second, third := milestone(g, "zeta", "9"), milestone(g, "claude", "1"), milestone(g, "claude", "2")
		first.Files, first.FocusAreas, first.MaxWords = []string{"b.go", "a.go"}, []string{"security", "tests"}, 150
		second.Files, second.FocusAreas, second.MaxWords = []string{"c.go", "a.go"}, []string{"speed", "security"}, 90
		third.Kind, third.MaxWords = pipeline.TriggerBlocker, 100
		f.say(t, first, ports.Spoken{Cycle: 1})
		f.clock.pass(2 * time.Second)
		f.say(t, second, ports.Spoken{Cycle: 1})
		f.clock.pass(2 * time.Second)
		f.say(t, third, ports.Spoken{Cycle: 1})
		f.clock.pass(time.Second)
		f.fire(t, "five seconds after the first", 1)
		r := f.session(t, g)
		want := pipeline.SessionCycle{
			Number: 1, Triggers: pipeline.List[pipeline.SessionTrigger]{pipeline.TriggerBlocker, pipeline.TriggerMilestone},
			Events: pipeline.List[string]{"claude/1", "claude/2", "zeta/9"}, Targets: pipeline.List[string]{"claude", "zeta"},
			Context: pipeline.List[pipeline.SessionSummary]{{Agent: "claude", Text: "I did 2"}, {Agent: "zeta", Text: "I did 9"}},
			Files:   pipeline.List[string]{"a.go", "b.go", "c.go"}, FocusAreas: pipeline.List[string]{"security", "tests", "speed"}, MaxWords: 90,
			BegunAt: f.clock.Now(),
		}
		if diff := cmp.Diff(want, r.Cycle); diff != "" {
			t.Errorf("the cycle (-want +got):\n%s", diff)
		}
		if !r.Running || r.Pending != 0 || !r.GatherAt.IsZero() || r.HeadSHA != "" {
			t.Errorf("the session is %+v", r)
		}
		f.wantAsked(t, "begun", g, 1, "milestone by zeta and 2 more events")
	},
	"a cycle is told a limited number of things": func(t *testing.T, f sessionFixture) {
		g := pull(1, "aaa")
		for i := range 3 {
			e := milestone(g, "claude", fmt.Sprint(i))
			for n := range 60 {
				e.Files = append(e.Files, fmt.Sprintf("%d/%d.go", i, n))
			}
			for n := range 6 {
				e.FocusAreas = append(e.FocusAreas, fmt.Sprintf("%d.%d", i, n))
			}
			f.say(t, e, ports.Spoken{Cycle: 1})
		}
		f.clock.pass(5 * time.Second)
		f.fire(t, "begun", 1)
		if c := f.session(t, g).Cycle; len(c.Files) != ports.MaxSessionFiles || len(c.FocusAreas) != ports.MaxSessionFocus || c.FocusAreas[9] != "1.3" || c.MaxWords != 200 {
			t.Errorf("%d files, focus %q, %d words", len(c.Files), c.FocusAreas, c.MaxWords)
		}
	},
	"an event counts once": func(t *testing.T, f sessionFixture) {
		g := pull(1, "aaa")
		f.say(t, milestone(g, "claude", "m1"), ports.Spoken{Cycle: 1})
		again := milestone(g, "claude", "m1")
		again.Files = []string{"more.go"}
		f.say(t, again, ports.Spoken{Cycle: 1, Known: true})
		other, stuck := again, again
		other.Summary, stuck.Kind = "something else", pipeline.TriggerBlocker
		f.wantRefused(t, other, ports.ErrOtherEvent)
		f.wantRefused(t, stuck, ports.ErrOtherEvent)
		f.wantRefused(t, milestone(pull(2, "bbb"), "claude", "m1"), ports.ErrOtherEvent)
		f.say(t, milestone(g, "codex", "m1"), ports.Spoken{Cycle: 1})
		elsewhere := of(5, repoID+1, 1, "aaa")
		f.say(t, milestone(elsewhere, "claude", "m1"), ports.Spoken{Cycle: 1})
		f.clock.pass(5 * time.Second)
		f.fire(t, "both pull requests", 2)
		if c := f.session(t, g).Cycle; len(c.Events) != 2 || c.Context[0].Text != "I did m1" {
			t.Errorf("the cycle is %+v", c)
		}
		f.say(t, milestone(g, "claude", "m1"), ports.Spoken{Cycle: 1, Known: true})
		f.say(t, milestone(g, "claude", "m2"), ports.Spoken{Cycle: 2})
		f.say(t, milestone(g, "claude", "m2"), ports.Spoken{Cycle: 2, Known: true})
	},
	"an event needs an id and a pull request": func(t *testing.T, f sessionFixture) {
		for _, e := range []ports.SessionEvent{milestone(pull(1, "aaa"), "claude", ""), milestone(group("aaa"), "claude", "m1")} {
			if _, err := f.Speak(f.ctx, e, sessionSettings); err == nil {
				t.Errorf("%+v was stored", e)
			}
		}
	},
	"an event changes neither the head nor the wanted generation": func(t *testing.T, f sessionFixture) {
		g := pull(1, "aaa")
		f.accept(t, push("1", g))
		f.say(t, milestone(g.At("old"), "claude", "m1"), ports.Spoken{Cycle: 1})
		if st := f.state(t, g.Key()); st.HeadSHA != "aaa" || st.Wanted != 1 {
			t.Errorf("the target is %+v", st)
		}
		f.clock.pass(5 * time.Second)
		f.fire(t, "begun", 1)
		if st := f.state(t, g.Key()); st.HeadSHA != "aaa" || st.Wanted != 2 {
			t.Errorf("the target is %+v", st)
		}
	},
	"events during a cycle begin the next one at its end": func(t *testing.T, f sessionFixture) {
		g := pull(1, "aaa")
		f.cycle(t, g, 1)
		f.say(t, milestone(g, "codex", "late"), ports.Spoken{Cycle: 2})
		f.clock.pass(time.Hour)
		f.fire(t, "while the cycle runs", 0)
		if r := f.session(t, g); r.Pending != 1 || r.Cycle.Number != 1 {
			t.Errorf("the session is %+v", r)
		}
		f.publish(t, g, decided(1))
		if r := f.session(t, g); r.Running || r.GatherAt != f.clock.Now() || r.State.Rule != 4 {
			t.Errorf("after the decision the session is %+v", r)
		}
		f.fire(t, "at once", 1)
		r := f.session(t, g)
		if r.Cycle.Number != 2 || !r.Running || len(r.Cycle.Targets) != 1 || r.Cycle.Targets[0] != "codex" || r.State.Cycle != 1 {
			t.Errorf("the next cycle: %+v", r)
		}
		f.wantAsked(t, "begun", g, 2, "milestone by codex")
	},
	"a limited number of events of agents wait": func(t *testing.T, f sessionFixture) {
		g := pull(1, "aaa")
		f.cycle(t, g, 1)
		for i := range ports.MaxSessionWaiting {
			f.say(t, milestone(g, "claude", fmt.Sprint(i)), ports.Spoken{Cycle: 2})
		}
		spoke := f.session(t, g).SpokeAt
		f.clock.pass(time.Minute)
		f.wantRefused(t, milestone(g, "claude", "one more"), ports.ErrManyEvents)
		f.say(t, milestone(g, "claude", "0"), ports.Spoken{Cycle: 2, Known: true})
		e := byPerson(g, "comment 7")
		f.change(t, 7, g, ports.Effect{Event: &e, SessionSettings: sessionSettings, Audit: &ports.AuditEntry{Actor: "ann"}})
		if r := f.session(t, g); r.Pending != ports.MaxSessionWaiting+1 || r.SpokeAt != spoke {
			t.Errorf("the session is %+v", r)
		}
		if log, err := f.Audit(f.ctx, g.Key(), 9); err != nil || len(log) != 1 {
			t.Errorf("the command's other effects: %v, %v", log, err)
		}
	},
	"a person's command begins a cycle about the same agents": func(t *testing.T, f sessionFixture) {
		g := pull(1, "aaa")
		f.cycle(t, g, 1)
		f.publish(t, g, decided(1))
		before := f.session(t, g)
		f.clock.pass(time.Minute)
		e := byPerson(g, "comment 7")
		c := f.acceptedCommand(t, 7, g)
		for range 2 { // a job may run twice
			err := f.Obey(f.ctx, c, ports.Effect{Event: &e, SessionSettings: sessionSettings}, &ports.ReviewAsk{Target: g, Reason: "/review", Rerun: ports.Rerun{Full: true}})
			if err != nil {
				t.Fatal(err)
			}
		}
		f.wantAsked(t, "obeyed", g, 2, "/review")
		f.clock.pass(5 * time.Second)
		f.fire(t, "begun", 1)
		f.wantAsked(t, "begun", g, 3, "/review by a person")
		if st := f.state(t, g.Key()); !st.Rerun.Full {
			t.Errorf("what the command asked for is lost: %+v", st.Rerun)
		}
		r := f.session(t, g)
		want := pipeline.SessionCycle{
			Number: 2, Triggers: pipeline.List[pipeline.SessionTrigger]{pipeline.TriggerPerson}, Targets: before.Cycle.Targets, Context: before.Cycle.Context,
			FocusAreas: sessionSettings.FocusAreas, MaxWords: 200, BegunAt: f.clock.Now(),
		}
		if diff := cmp.Diff(want, r.Cycle, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("the cycle (-want +got):\n%s", diff)
		}
		if r.SpokeAt != before.SpokeAt || r.FallbackAt != before.FallbackAt {
			t.Errorf("the person counts as an agent: %+v, before %+v", r, before)
		}
	},
	"a command's event begins its cycle with the review that the command asks for": func(t *testing.T, f sessionFixture) {
		g := pull(1, "aaa")
		f.say(t, milestone(g, "claude", "m1"), ports.Spoken{Cycle: 1})
		e, atOnce := byPerson(g, "comment 7"), sessionSettings
		atOnce.Join = 0
		c := f.acceptedCommand(t, 7, g)
		if err := f.Obey(f.ctx, c, ports.Effect{Event: &e, SessionSettings: atOnce}, &ports.ReviewAsk{Target: g, Reason: "/review"}); err != nil {
			t.Fatal(err)
		}
		r := f.session(t, g)
		if !r.Running || r.Cycle.Number != 1 || len(r.Cycle.Triggers) != 2 || r.Pending != 0 || !r.GatherAt.IsZero() {
			t.Errorf("the session is %+v", r)
		}
		f.wantAsked(t, "obeyed", g, 1, "/review")
		f.clock.pass(5 * time.Second)
		f.fire(t, "the cycle has begun", 0)
		next := byPerson(g, "comment 8")
		f.change(t, 8, g, ports.Effect{Event: &next, SessionSettings: atOnce})
		if r := f.session(t, g); r.Cycle.Number != 1 || r.Pending != 1 {
			t.Errorf("while the cycle runs, the session is %+v", r)
		}
		f.publish(t, g, decided(1))
		f.fire(t, "the event that waited", 1)
		f.wantAsked(t, "begun", g, 2, "/review by a person")
	},
	"a person alone starts cycles, but no session": func(t *testing.T, f sessionFixture) {
		g := pull(1, "aaa")
		f.accept(t, push("1", g))
		f.finish(t, g, false)
		f.say(t, byPerson(g, "comment 7"), ports.Spoken{Cycle: 1})
		f.clock.pass(5 * time.Second)
		f.fire(t, "begun", 1)
		if st := f.state(t, g.Key()); !st.Rerun.Decide || st.Reason != "/review by a person" {
			t.Errorf("the target is %+v", st)
		}
		o := decided(1)
		o.Fallback = time.Minute
		f.publish(t, g, o)
		if r := f.session(t, g); !r.SpokeAt.IsZero() || !r.FallbackAt.IsZero() || len(r.Cycle.Targets) != 0 || r.State.Cycle != 1 {
			t.Errorf("the session is %+v", r)
		}
	},
	"the fallback comes once until an agent reports again": func(t *testing.T, f sessionFixture) {
		g := pull(1, "aaa")
		f.cycle(t, g, 1)
		o := decided(1)
		o.Fallback = 15 * time.Minute
		f.publish(t, g, o)
		f.clock.pass(15*time.Minute - time.Microsecond)
		f.fire(t, "too early", 0)
		f.clock.pass(time.Microsecond)
		f.fire(t, "in time", 1)
		first := f.session(t, g)
		want := pipeline.SessionCycle{
			Number: 2, Triggers: pipeline.List[pipeline.SessionTrigger]{pipeline.TriggerFallback}, Targets: pipeline.List[string]{"claude"},
			Context:    pipeline.List[pipeline.SessionSummary]{{Agent: "claude", Text: "I did m1"}},
			FocusAreas: sessionSettings.FocusAreas, MaxWords: 200, BegunAt: f.clock.Now(),
		}
		if diff := cmp.Diff(want, first.Cycle, cmpopts.EquateEmpty()); diff != "" || !first.FallbackAt.IsZero() {
			t.Errorf("the fallback is due again at %v; the cycle (-want +got):\n%s", first.FallbackAt, diff)
		}
		if !first.Cycle.Fallback() {
			t.Error("the cycle is not the fallback's")
		}
		f.wantAsked(t, "begun", g, 2, "no agent has reported for a while")
		f.publish(t, g, decided(2)) // which leaves the timer as it is
		f.clock.pass(time.Hour)
		f.fire(t, "after the fallback", 0)
		f.cycle(t, g, 3)
		f.publish(t, g, decided(3))
		f.clock.pass(15 * time.Minute)
		f.fire(t, "after an agent has reported", 1)
		if r := f.session(t, g); r.Cycle.Number != 4 || !r.Cycle.Fallback() {
			t.Errorf("the cycle is %+v", r.Cycle)
		}
	},
	"the fallback waits for a running cycle, and for events": func(t *testing.T, f sessionFixture) {
		g := pull(1, "aaa")
		f.cycle(t, g, 1)
		f.clock.pass(time.Hour)
		f.fire(t, "while a cycle runs", 0)
		f.publish(t, g, decided(1))
		f.say(t, byPerson(g, "comment 7"), ports.Spoken{Cycle: 2})
		f.fire(t, "while an event waits", 0)
		f.clock.pass(5 * time.Second)
		f.fire(t, "the event", 1)
		if r := f.session(t, g); r.Cycle.Fallback() || r.FallbackAt.IsZero() {
			t.Errorf("the session is %+v", r)
		}
		f.publish(t, g, decided(2))
		f.fire(t, "then the fallback", 1)
		if r := f.session(t, g); !r.Cycle.Fallback() {
			t.Errorf("the session is %+v", r)
		}
	},
	"there is no fallback while the session is paused": func(t *testing.T, f sessionFixture) {
		g := pull(1, "aaa")
		f.cycle(t, g, 1)
		f.publish(t, g, paused(1))
		f.clock.pass(time.Hour)
		f.fire(t, "paused", 1)
		if r := f.session(t, g); !r.FallbackAt.IsZero() || r.Running || r.Cycle.Number != 1 {
			t.Errorf("the session is %+v", r)
		}
		f.wantAsked(t, "paused", g, 1, "milestone by claude")
		f.cycle(t, g, 2) // events still count
	},
	"without the setting there is no fallback": func(t *testing.T, f sessionFixture) {
		g := pull(1, "aaa")
		off := sessionSettings
		off.Fallback = 0
		if _, err := f.Speak(f.ctx, milestone(g, "claude", "m1"), off); err != nil {
			t.Fatal(err)
		}
		if r := f.session(t, g); !r.FallbackAt.IsZero() {
			t.Errorf("it is due at %v", r.FallbackAt)
		}
	},
	"calls of Fire at the same time begin a cycle once": func(t *testing.T, f sessionFixture) {
		const pulls = 6
		for n := range pulls {
			f.say(t, milestone(pull(n+1, "aaa"), "claude", fmt.Sprint(n)), ports.Spoken{Cycle: 1})
		}
		f.clock.pass(5 * time.Second)
		var fired atomic.Int64
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				n, err := f.Fire(f.ctx)
				if err != nil {
					t.Error(err)
				}
				fired.Add(int64(n))
			})
		}
		wg.Wait()
		if fired.Load() != pulls {
			t.Errorf("%d cycles began, want %d", fired.Load(), pulls)
		}
		for n := range pulls {
			f.wantAsked(t, "begun", pull(n+1, "aaa"), 1, "milestone by claude")
		}
	},
	"many sessions are due": func(t *testing.T, f sessionFixture) {
		const pulls = 55
		for n := range pulls {
			f.say(t, milestone(pull(n+1, "aaa"), "claude", fmt.Sprint(n)), ports.Spoken{Cycle: 1})
		}
		f.clock.pass(5 * time.Second)
		f.fire(t, "the first", 50)
		f.fire(t, "the rest", 5)
		f.fire(t, "none", 0)
	},
	"a closed pull request has no cycles": func(t *testing.T, f sessionFixture) {
		g := pull(1, "aaa")
		f.cycle(t, g, 1)
		f.publish(t, g, decided(1))
		f.say(t, milestone(g, "claude", "dropped"), ports.Spoken{Cycle: 2})
		f.accept(t, ports.Delivery{GUID: "closed", Event: "pull_request", Action: "closed", Asks: []ports.Ask{ports.Close{Target: g}}})
		f.wantRefused(t, milestone(g, "claude", "too late"), ports.ErrTargetClosed)
		e := byPerson(g, "comment 7")
		f.change(t, 7, g, ports.Effect{Event: &e, SessionSettings: sessionSettings})
		f.clock.pass(5 * time.Second)
		f.fire(t, "closed", 1)
		f.clock.pass(time.Hour)
		f.fire(t, "the timers are off", 0)
		if r := f.session(t, g); r.Pending != 0 || !r.GatherAt.IsZero() || !r.FallbackAt.IsZero() || r.Cycle.Number != 1 {
			t.Errorf("the session is %+v", r)
		}
		if st := f.state(t, g.Key()); !st.Closed || st.Wanted != 1 {
			t.Errorf("the target is %+v", st)
		}
		f.say(t, milestone(g, "claude", "m1"), ports.Spoken{Cycle: 1, Known: true})
		f.accept(t, push("reopened", g))
		f.say(t, milestone(g, "claude", "dropped"), ports.Spoken{Cycle: 2})
	},
	"an installation that is gone has no sessions": func(t *testing.T, f sessionFixture) {
		g := pull(1, "aaa")
		f.say(t, milestone(g, "claude", "m1"), ports.Spoken{Cycle: 1})
		f.accept(t, ports.Delivery{GUID: "gone", Event: "installation", Action: "deleted", Installation: 5, Asks: []ports.Ask{ports.Forget{Installation: 5}}})
		f.wantRefused(t, milestone(g, "claude", "m2"), ports.ErrNotFound)
		f.wantRefused(t, milestone(pull(2, "bbb"), "claude", "m3"), ports.ErrNotFound)
		f.clock.pass(time.Hour)
		f.fire(t, "gone", 1)
		f.fire(t, "the timers are off", 0)
		if st := f.state(t, g.Key()); st.Wanted != 0 {
			t.Errorf("generation %d is wanted", st.Wanted)
		}
	},
	"a cycle that nobody could be asked about ends": func(t *testing.T, f sessionFixture) {
		g := pull(1, "aaa")
		f.cycle(t, g, 1)
		f.publish(t, g, ports.SessionOutcome{Cycle: 1})
		if r := f.session(t, g); r.Running || r.State.Cycle != 0 || r.FallbackAt.IsZero() {
			t.Errorf("the session is %+v", r)
		}
	},
	"a cycle stalls when its review is given up, and the next one takes over its events": func(t *testing.T, f sessionFixture) {
		g := pull(1, "aaa")
		f.cycle(t, g, 1)
		f.say(t, milestone(g, "claude", "m2"), ports.Spoken{Cycle: 2})
		f.finish(t, g, true)
		if r := f.session(t, g); !r.Stalled || r.GatherAt != f.clock.Now() {
			t.Errorf("the session is %+v", r)
		}
		f.fire(t, "the event that waited", 1)
		if r := f.session(t, g); r.Cycle.Number != 2 || !r.UnderReview() || strings.Join(r.Cycle.Events, " ") != "claude/m1 claude/m2" {
			t.Errorf("the session is %+v", r)
		}
	},
	"the next review takes up a stalled cycle": func(t *testing.T, f sessionFixture) {
		g := pull(1, "aaa")
		f.cycle(t, g, 1)
		f.finish(t, g, true)
		f.accept(t, push("1", g))
		f.askReviewers(t, g, 1, "codex")
		if r := f.session(t, g); r.Cycle.Number != 1 || !r.UnderReview() || r.HeadSHA != "aaa" {
			t.Errorf("the session is %+v", r)
		}
	},
	"the fallback after a stalled cycle is about its events": func(t *testing.T, f sessionFixture) {
		g := pull(1, "aaa")
		f.cycle(t, g, 1)
		f.finish(t, g, true)
		f.clock.pass(time.Hour)
		f.fire(t, "the fallback", 1)
		if r := f.session(t, g); r.Cycle.Number != 2 || !r.UnderReview() || !r.Cycle.Fallback() || strings.Join(r.Cycle.Events, " ") != "claude/m1" {
			t.Errorf("the session is %+v", r)
		}
		f.finish(t, g, true)
		f.clock.pass(time.Hour)
		f.fire(t, "no second one", 0)
	},
	"a cycle takes over only so many events": func(t *testing.T, f sessionFixture) {
		g := pull(1, "aaa")
		for n := range 3 {
			for i := range ports.MaxSessionWaiting {
				f.say(t, milestone(g, "claude", fmt.Sprintf("m%d-%02d", n, i)), ports.Spoken{Cycle: n + 1})
			}
			f.clock.pass(5 * time.Second)
			f.fire(t, "the events have joined", 1)
			f.finish(t, g, true)
		}
		if r := f.session(t, g); len(r.Cycle.Events) != 2*ports.MaxSessionWaiting || r.Cycle.Events[0] != "claude/m1-00" || r.Pending != 0 {
			t.Errorf("the session is %+v", r)
		}
	},
	"a run stalls a cycle that it can't decide": func(t *testing.T, f sessionFixture) {
		g := pull(1, "aaa")
		f.accept(t, push("1", g))
		l := f.acquire(t, g.Key())
		if err := f.StallCycle(f.ctx, l); err != nil {
			t.Errorf("without a session: %v", err)
		}
		f.cycle(t, g, 1)
		f.say(t, milestone(g, "claude", "m2"), ports.Spoken{Cycle: 2})
		for range 2 {
			if err := f.StallCycle(f.ctx, l); err != nil {
				t.Fatal(err)
			}
		}
		if r := f.session(t, g); !r.Stalled || r.State.Cycle != 0 || r.GatherAt != f.clock.Now() {
			t.Errorf("the session is %+v", r)
		}
		f.clock.pass(time.Hour)
		f.acquire(t, g.Key())
		wantErr(t, "StallCycle with a lost lease", f.StallCycle(f.ctx, l), ports.ErrLeaseLost)
	},
	"a cycle that began during a run does not stall with it": func(t *testing.T, f sessionFixture) {
		g := pull(1, "aaa")
		f.accept(t, push("1", g))
		l := f.acquire(t, g.Key())
		f.cycle(t, g, 1)
		if more, err := f.Finish(f.ctx, l, 1, false); err != nil || !more {
			t.Fatal(more, err)
		}
		if r := f.session(t, g); !r.UnderReview() {
			t.Errorf("the session is %+v", r)
		}
	},
	"a review changes the session when it is published, once": func(t *testing.T, f sessionFixture) {
		g := pull(1, "aaa")
		f.cycle(t, g, 1)
		r := stored("run", g, 1, "aaa")
		r.Session = paused(1)
		r.Session.Fallback = -1
		r.Session.Requests = []ports.SessionRequest{{ID: "clarify", Kind: ports.RequestClarification, Cycle: 1, HeadSHA: "aaa", Agent: "codex", Body: []byte(`{"type":"clarification_request"}`)}}
		f.save(t, r, false)
		if s := f.session(t, g); !s.Running || s.State.Cycle != 0 {
			t.Errorf("saved, the session is %+v", s)
		}
		_, err := f.Request(f.ctx, "clarify")
		wantErr(t, "the request before", err, ports.ErrNotFound)
		jobs := f.jobs(t)
		for range 2 { // a late retry
			if err := f.MarkPublished(f.ctx, "run"); err != nil {
				t.Fatal(err)
			}
		}
		s := f.session(t, g)
		if diff := cmp.Diff(*paused(1).State, s.State); diff != "" || s.Running || !s.FallbackAt.IsZero() {
			t.Errorf("published, the session is %+v; its state (-want +got):\n%s", s, diff)
		}
		f.wantJobs(t, jobs+1, "published")
		q, err := f.Request(f.ctx, "clarify")
		if err != nil || q.Key != g.Key() || q.State != ports.RequestOpen || string(q.Body) != `{"type":"clarification_request"}` || q.AskedAt != f.clock.Now() {
			t.Errorf("the request is %+v, %v", q, err)
		}
		if all, err := f.Requests(f.ctx, g.Key(), 9); err != nil || len(all) != 0 {
			t.Errorf("requests for reviews: %+v, %v", all, err)
		}
		f.finish(t, g, false)
		f.cycle(t, g, 2)
		if err := f.MarkPublished(f.ctx, "run"); err != nil {
			t.Fatal(err)
		}
		if s := f.session(t, g); !s.Running || s.FallbackAt.IsZero() {
			t.Errorf("an old review was marked again, and the session is %+v", s)
		}
	},
	"a review decides its own cycle only": func(t *testing.T, f sessionFixture) {
		g := pull(1, "aaa")
		f.accept(t, push("1", g))
		f.cycle(t, g, 1)
		f.publish(t, g, decided(1))
		f.cycle(t, g, 2)
		f.askReviewers(t, g, 2, "codex")
		f.publish(t, g, paused(1)) // after a late answer
		if r := f.session(t, g); !r.Running || r.State.Pause == nil {
			t.Errorf("the session is %+v", r)
		}
		f.clock.pass(reviewersTime)
		f.fire(t, "the reviewers' deadline has passed", 1)
	},
	"the time of a review's requests begins with its publication": func(t *testing.T, f sessionFixture) {
		g := pull(1, "aaa")
		f.cycle(t, g, 1)
		made := f.clock.Now()
		r := stored("run", g, 1, "aaa")
		r.Session = paused(1)
		r.Session.Requests = []ports.SessionRequest{
			{ID: "timed", Kind: ports.RequestClarification, Cycle: 1, HeadSHA: "aaa", Agent: "codex", AskedAt: made, Deadline: made.Add(reviewersTime)},
			{ID: "untimed", Kind: ports.RequestEscalation, Cycle: 1, HeadSHA: "aaa"},
		}
		f.save(t, r, false)
		f.clock.pass(time.Hour)
		if err := f.MarkPublished(f.ctx, "run"); err != nil {
			t.Fatal(err)
		}
		now := f.clock.Now()
		if q := f.request(t, "timed"); q.AskedAt != now || q.Deadline != now.Add(reviewersTime) {
			t.Errorf("asked at %v, deadline %v; want %v, and %v later", q.AskedAt, q.Deadline, now, reviewersTime)
		}
		if q := f.request(t, "untimed"); q.AskedAt != now || !q.Deadline.IsZero() {
			t.Errorf("asked at %v, deadline %v; want %v, and none", q.AskedAt, q.Deadline, now)
		}
	},
	"each decision of a cycle sends its own requests": func(t *testing.T, f sessionFixture) {
		g := pull(1, "aaa")
		f.accept(t, push("1", g))
		f.cycle(t, g, 1)
		for n := range 2 {
			r := stored(fmt.Sprint("run ", n), g, 2, "aaa")
			r.Session = paused(1)
			for _, kind := range []ports.RequestKind{ports.RequestClarification, ports.RequestEscalation} {
				r.Session.Requests = append(r.Session.Requests, ports.SessionRequest{
					ID: fmt.Sprint(kind, " ", n), Kind: kind, Cycle: 1, HeadSHA: "aaa", Agent: "codex", Body: fmt.Append(nil, n),
				})
			}
			f.save(t, r, false)
			jobs := f.jobs(t)
			for range 2 { // a late retry
				if err := f.MarkPublished(f.ctx, r.RunID); err != nil {
					t.Fatal(err)
				}
			}
			f.wantJobs(t, jobs+2, r.RunID+" is published")
		}
		for _, id := range []string{"clarification_request 0", "clarification_request 1", "escalation 0", "escalation 1"} {
			if q := f.request(t, id); string(q.Body) != id[len(id)-1:] {
				t.Errorf("request %s has the body %s", id, q.Body)
			}
		}
	},
	"a review that is dropped changes nothing": func(t *testing.T, f sessionFixture) {
		g := pull(1, "aaa")
		f.cycle(t, g, 1)
		r := stored("run", g, 1, "aaa")
		r.Session = decided(1)
		f.save(t, r, false)
		if err := f.DropReview(f.ctx, "run"); err != nil {
			t.Fatal(err)
		}
		if s := f.session(t, g); !s.Running || s.State.Cycle != 0 {
			t.Errorf("the session is %+v", s)
		}
	},
	"a review without an outcome leaves the session as it is": func(t *testing.T, f sessionFixture) {
		g := pull(1, "aaa")
		f.cycle(t, g, 1)
		f.publish(t, g, decided(1))
		before := f.session(t, g)
		f.accept(t, push("2", g))
		f.publish(t, g, ports.SessionOutcome{Requests: []ports.SessionRequest{}})
		if diff := cmp.Diff(before, f.session(t, g)); diff != "" {
			t.Errorf("the session (-before +after):\n%s", diff)
		}
		other := pull(2, "bbb") // without a session
		f.accept(t, push("3", other))
		f.publish(t, other, ports.SessionOutcome{State: &pipeline.SessionState{Cycle: 1}, Fallback: time.Minute})
		_, err := f.Session(f.ctx, other.Key())
		wantErr(t, "a session that does not exist", err, ports.ErrNotFound)
	},
	"the state never goes back": func(t *testing.T, f sessionFixture) {
		g := pull(1, "aaa")
		f.cycle(t, g, 1)
		old := stored("old", g, 1, "aaa")
		old.Session = decided(1)
		f.save(t, old, false)
		f.publish(t, g, paused(1)) // the same cycle, decided again
		f.cycle(t, g, 2)
		f.publish(t, g, paused(2))
		if err := f.MarkPublished(f.ctx, "old"); err != nil {
			t.Fatal(err)
		}
		if s := f.session(t, g).State; s.Cycle != 2 || s.Pause == nil {
			t.Errorf("the state is %+v", s)
		}
	},
	"is resumed once for each command": func(t *testing.T, f sessionFixture) {
		g := pull(1, "aaa")
		c := f.acceptedCommand(t, 6, g)
		wantErr(t, "without a session", f.Obey(f.ctx, c, resumedBy("ann"), nil), ports.ErrNotFound)
		f.cycle(t, g, 1)
		f.publish(t, g, paused(1))
		c = f.acceptedCommand(t, 7, g)
		for range 2 {
			if err := f.Obey(f.ctx, c, resumedBy("ann"), nil); err != nil {
				t.Fatal(err)
			}
		}
		r := f.session(t, g)
		if diff := cmp.Diff(resumedBy("ann").ResumeSession, r.Resumed); diff != "" || r.Resumes != 1 || r.State.Pause == nil {
			t.Errorf("the session is %+v; what ann saw (-want +got):\n%s", r, diff)
		}
		f.change(t, 8, g, ports.Effect{})
		f.change(t, 9, g, resumedBy("bob"))
		f.say(t, milestone(g, "claude", "m2"), ports.Spoken{Cycle: 2})
		if r := f.session(t, g); r.Resumes != 2 || r.Resumed == nil || r.Resumed.By != "bob" {
			t.Errorf("the session is %+v", r)
		}
	},
	"goes with its target": func(t *testing.T, f sessionFixture) {
		g, stays := pull(1, "aaa"), pull(2, "bbb")
		f.cycle(t, g, 1)
		f.say(t, milestone(stays, "claude", "other"), ports.Spoken{Cycle: 1})
		f.askReviewers(t, g, 1, "codex")
		if err := f.ForgetTarget(f.ctx, f.acquire(t, g.Key())); err != nil {
			t.Fatal(err)
		}
		_, err := f.Session(f.ctx, g.Key())
		_, qerr := f.Request(f.ctx, "codex 1 aaa")
		wantErr(t, "the session", err, ports.ErrNotFound)
		wantErr(t, "the request", qerr, ports.ErrNotFound)
		f.say(t, milestone(pull(3, "ccc"), "claude", "m1"), ports.Spoken{Cycle: 1}) // its id is free
		if r := f.session(t, stays); r.Pending != 1 {
			t.Errorf("the other session is %+v", r)
		}
		f.clock.pass(time.Hour)
		f.fire(t, "the others", 2)
	},
	"old events and requests are pruned": func(t *testing.T, f sessionFixture) {
		g := pull(1, "aaa")
		f.cycle(t, g, 1)
		f.askReviewers(t, g, 1, "codex", "sme")
		f.answer(t, "codex 1 aaa", pipeline.SessionApproved, ports.AnswerStored)
		f.answer(t, "sme 1 aaa", pipeline.SessionApproved, ports.AnswerStored)
		f.clock.pass(20 * aDay)
		f.publish(t, g, decided(1))
		f.cycle(t, g, 2)
		f.askReviewers(t, g, 2, "codex")
		f.say(t, milestone(g, "claude", "waits"), ports.Spoken{Cycle: 3})
		if n := f.prune(t, 30*aDay, 400*aDay); n != 0 {
			t.Errorf("%d rows were deleted, want none", n)
		}
		f.clock.pass(11 * aDay)
		if n := f.prune(t, 30*aDay, 400*aDay); n != 3 {
			t.Errorf("%d rows were deleted, want the event and both requests of the first cycle", n)
		}
		if all, err := f.Requests(f.ctx, g.Key(), 9); err != nil || len(all) != 1 || all[0].Cycle != 2 {
			t.Errorf("requests: %+v, %v", all, err)
		}
		f.clock.pass(40 * aDay)
		if n := f.prune(t, 30*aDay, 400*aDay); n != 2 {
			t.Errorf("%d rows were deleted, want the event and the request of the second cycle", n)
		}
		if r := f.session(t, g); r.Pending != 1 || r.Cycle.Number != 2 {
			t.Errorf("the session is %+v", r)
		}
	},
	"keeps odd texts as well as the database can": func(t *testing.T, f sessionFixture) {
		g := pull(1, "aaa")
		e := milestone(g, "claude", "m\x00\xff")
		e.Summary = "a\x00b\u202e" + strings.Repeat("ü", 10)
		f.say(t, e, ports.Spoken{Cycle: 1})
		f.say(t, e, ports.Spoken{Cycle: 1, Known: true})
		f.clock.pass(5 * time.Second)
		f.fire(t, "begun", 1)
		if c := f.session(t, g).Cycle; len(c.Context) != 1 || !strings.Contains(c.Context[0].Text, "b\u202eüüüüüüüüüü") {
			t.Errorf("the context is %q", c.Context)
		}
	},
})
