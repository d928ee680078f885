package storetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
)

// acceptedCommand returns a command on a pull request that was accepted into the store.
func (f *fixture) acceptedCommand(t *testing.T, id int64, g ports.Target) ports.Command {
	t.Helper()
	f.accept(t, comment(guid(int(id)), id, g))
	return command(id, g)
}

func (f *fixture) taught(t *testing.T, key, head, base string) pipeline.Memory {
	t.Helper()
	m, err := f.Taught(f.ctx, key, head, base)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func (f *fixture) wantTaught(t *testing.T, when string, g ports.Target, want pipeline.Memory) {
	t.Helper()
	if diff := cmp.Diff(want, f.taught(t, g.Key(), g.HeadSHA, "main")); diff != "" {
		t.Errorf("%s (-want +got):\n%s", when, diff)
	}
}

func (f *fixture) change(t *testing.T, id int64, g ports.Target, e ports.Effect) {
	t.Helper()
	if err := f.Obey(f.ctx, f.acceptedCommand(t, id, g), e, nil); err != nil {
		t.Fatal(err)
	}
}

var byHandTests = map[string]func(*testing.T, *fixture){
	"the last word on a finding counts": func(t *testing.T, f *fixture) {
		g := pull(1, "aaa")
		f.wantTaught(t, "before any word", g, pipeline.Memory{})
		first := pipeline.Dismissal{Fingerprint: "f2", Path: "a.go", Reason: "wanted", By: "ann", Surroundings: "0123456789abcdef"}
		other := pipeline.Dismissal{Fingerprint: "f1", Path: "b.go", Reason: "so what", By: "bob", Override: true}
		f.change(t, 1, g, ports.Effect{Dismiss: []pipeline.Dismissal{first, other}, BaseRef: "main"})
		f.wantTaught(t, "dismissed", g, pipeline.Memory{Dismissed: pipeline.List[pipeline.Dismissal]{other, first}})
		f.wantTaught(t, "another pull request", pull(2, "aaa"), pipeline.Memory{})

		accepted := pipeline.Acceptance{Fingerprint: "f2", By: "cy"}
		f.change(t, 2, g, ports.Effect{Accept: []pipeline.Acceptance{accepted}, BaseRef: "main"})
		f.wantTaught(t, "accepted", g, pipeline.Memory{
			Dismissed: pipeline.List[pipeline.Dismissal]{other}, Accepted: pipeline.List[pipeline.Acceptance]{accepted},
		})
		first.By, first.Reason = "dan", "after all"
		f.change(t, 3, g, ports.Effect{Dismiss: []pipeline.Dismissal{first}, BaseRef: "main"})
		f.wantTaught(t, "dismissed again", g, pipeline.Memory{Dismissed: pipeline.List[pipeline.Dismissal]{other, first}})
		elsewhere := []pipeline.Dismissal{other, first}
		for i := range elsewhere {
			elsewhere[i].Surroundings = pipeline.SurroundingsElsewhere
		}
		if diff := cmp.Diff(pipeline.List[pipeline.Dismissal](elsewhere), f.taught(t, g.Key(), "aaa", "release").Dismissed); diff != "" {
			t.Errorf("against another base (-want +got):\n%s", diff)
		}
		f.change(t, 4, g, ports.Effect{Restore: []string{"f2", "never heard of"}})
		f.wantTaught(t, "restored", g, pipeline.Memory{Dismissed: pipeline.List[pipeline.Dismissal]{other}})
		f.change(t, 5, g, ports.Effect{Accept: []pipeline.Acceptance{accepted}})
		f.change(t, 6, g, ports.Effect{Restore: []string{"f1", "f2"}})
		f.wantTaught(t, "restored, all of them", g, pipeline.Memory{})
	},
	"who pushed is kept by head": func(t *testing.T, f *fixture) {
		opened := ports.Push{Target: pull(1, "aaa"), Sender: "ann", SenderID: 7}
		pushed := ports.Push{Target: pull(1, "bbb"), Before: "aaa", Sender: "bob"}
		retargeted := ports.Push{Target: pull(1, "ccc"), Retargeted: true, FromBase: "main", ToBase: "release"}
		unknown := ports.Push{Target: pull(1, "ccc"), Retargeted: true}
		back := ports.Push{Target: pull(1, "ccc"), Retargeted: true, FromBase: "release", ToBase: "main"}
		for i, p := range []ports.Push{opened, pushed, pushed, retargeted, back, unknown, back, {Target: pull(2, "bbb"), Sender: "cy"}} {
			f.accept(t, asking(guid(i), p, ports.ReviewAsk{Target: p.Target, Reason: "pushed"}))
		}
		got, err := f.Pushes(f.ctx, pull(1, "bbb"))
		if err != nil {
			t.Fatal(err)
		}
		for i := range got {
			got[i].Target = pull(1, got[i].Target.HeadSHA)
		}
		if diff := cmp.Diff([]ports.Push{opened, pushed, unknown, retargeted, back}, got); diff != "" {
			t.Errorf("pushes (-want +got):\n%s", diff)
		}
	},
	"a comment that ignores a finding is accepted for one base": func(t *testing.T, f *fixture) {
		g := pull(1, "aaa")
		comment := pipeline.Acceptance{Fingerprint: "f1", By: "cy", Ignore: "a sandbox", Surroundings: "0123456789abcdef"}
		right := pipeline.Acceptance{Fingerprint: "f2", By: "cy"}
		f.change(t, 1, g, ports.Effect{Accept: []pipeline.Acceptance{comment, right}, HeadSHA: "aaa", BaseRef: "main"})
		f.wantTaught(t, "accepted", g, pipeline.Memory{Accepted: pipeline.List[pipeline.Acceptance]{comment, right}})
		other := f.taught(t, g.Key(), "aaa", "release")
		elsewhere := right
		elsewhere.Surroundings = pipeline.SurroundingsElsewhere
		if diff := cmp.Diff(pipeline.List[pipeline.Acceptance]{elsewhere}, other.Accepted); diff != "" {
			t.Errorf("against another base (-want +got):\n%s", diff)
		}
	},
	"a decision belongs to a pull request, a head and a base": func(t *testing.T, f *fixture) {
		g := pull(1, "aaa")
		d := pipeline.HandDecision{Action: pipeline.HandOverride, By: "ann", Reason: "on fire", At: f.clock.Now()}
		f.change(t, 1, g, ports.Effect{ByHand: &d, HeadSHA: "aaa", BaseRef: "main"})
		f.wantTaught(t, "decided", g, pipeline.Memory{ByHand: &d})
		f.wantTaught(t, "another pull request", pull(2, "aaa"), pipeline.Memory{})
		f.wantTaught(t, "another head", pull(1, "bbb"), pipeline.Memory{})
		if m := f.taught(t, g.Key(), "aaa", "release"); m.ByHand != nil {
			t.Errorf("against another base: %+v", m.ByHand)
		}
		reject := pipeline.HandDecision{Action: pipeline.HandReject, By: "bob", Reason: "no", At: f.clock.Now().Add(time.Minute)}
		f.change(t, 2, g, ports.Effect{ByHand: &reject, HeadSHA: "aaa", BaseRef: "main"})
		f.wantTaught(t, "decided anew", g, pipeline.Memory{ByHand: &reject})
	},
	"a decision that belongs to nothing is refused": func(t *testing.T, f *fixture) {
		g := pull(1, "aaa")
		c := f.acceptedCommand(t, 1, g)
		for _, e := range []ports.Effect{
			{ByHand: &pipeline.HandDecision{}, BaseRef: "main"},
			{ByHand: &pipeline.HandDecision{}, HeadSHA: "aaa"},
			{Dismiss: []pipeline.Dismissal{{Path: "a.go"}}},
		} {
			e.Audit = &ports.AuditEntry{Actor: "ann"}
			e.Dismiss = append([]pipeline.Dismissal{{Fingerprint: "f1"}}, e.Dismiss...)
			if err := f.Obey(f.ctx, c, e, &ports.ReviewAsk{Target: g}); err == nil {
				t.Errorf("%+v was stored", e)
			}
		}
		f.wantTaught(t, "after what was refused", g, pipeline.Memory{})
		if log, _ := f.Audit(f.ctx, g.Key(), 10); len(log) > 0 {
			t.Errorf("audit log: %+v", log)
		}
		if st := f.state(t, g.Key()); st.Wanted != 0 {
			t.Errorf("a review was asked for: %+v", st)
		}
		if _, done, _ := f.Command(f.ctx, ports.PlaceConversation, 1); done {
			t.Error("the command counts as done")
		}
	},
	"the audit log has the newest first": func(t *testing.T, f *fixture) {
		g := pull(1, "aaa")
		var want []ports.AuditEntry
		for i := range 5 {
			a := ports.AuditEntry{HeadSHA: "aaa", Actor: "ann", Action: "dismiss", Subject: fmt.Sprint("f", i), Reason: "wanted"}
			if i == 4 {
				a.AutoDecision = pipeline.AutoReject
			}
			f.change(t, int64(i+1), g, ports.Effect{Audit: &a})
			a.At, a.Key, a.RepoID = f.clock.Now(), g.Key(), repoID
			want = append(want, a)
			f.clock.pass(time.Second)
		}
		f.change(t, 6, pull(2, "aaa"), ports.Effect{Audit: &ports.AuditEntry{Actor: "bob"}})
		slices.Reverse(want)
		got, err := f.Audit(f.ctx, g.Key(), 3)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want[:3], got); diff != "" {
			t.Errorf("log (-want +got):\n%s", diff)
		}
	},
	"a command is obeyed once": func(t *testing.T, f *fixture) {
		g := pull(1, "aaa")
		c := f.acceptedCommand(t, 1, g)
		e := ports.Effect{
			Dismiss: []pipeline.Dismissal{{Fingerprint: "f1", By: "ann"}},
			Audit:   &ports.AuditEntry{Actor: "ann", Action: "dismiss", Subject: "f1"},
		}
		ask := &ports.ReviewAsk{Target: g, Reason: "f1 dismissed", Rerun: ports.Rerun{Decide: true}}
		if err := f.Obey(f.ctx, c, e, ask); err != nil {
			t.Fatal(err)
		}
		st := f.state(t, g.Key())
		if st.Wanted != 1 || !st.Fresh || !st.Rerun.Decide {
			t.Errorf("state = %+v, want one fresh generation that decides anew", st)
		}
		f.change(t, 2, g, ports.Effect{Restore: []string{"f1"}})
		if err := f.Obey(f.ctx, c, e, ask); err != nil {
			t.Fatal(err)
		}
		f.wantTaught(t, "the first command came again", g, pipeline.Memory{})
		if log, _ := f.Audit(f.ctx, g.Key(), 10); len(log) != 1 {
			t.Errorf("audit log: %+v, want one entry", log)
		}
		if st := f.state(t, g.Key()); st.Wanted != 1 {
			t.Errorf("wanted = %d, want 1", st.Wanted)
		}
		refused := f.acceptedCommand(t, 3, g)
		if err := f.FinishCommand(f.ctx, ports.PlaceConversation, 3, "refused"); err != nil {
			t.Fatal(err)
		}
		if err := f.Obey(f.ctx, refused, e, ask); err != nil {
			t.Fatal(err)
		}
		f.wantTaught(t, "after a command that was refused", g, pipeline.Memory{})
		wantErr(t, "an unknown command", f.Obey(f.ctx, ports.Command{Place: ports.PlaceConversation, CommentID: 99, Target: g}, e, ask), ports.ErrNotFound)
	},
}

var rerunTests = map[string]func(*testing.T, *fixture){
	// Otherwise the review would keep an older result of an agent that was to run again.
	"what was given up is still to be done": func(t *testing.T, f *fixture) {
		g := pull(1, "aaa")
		a, decide := ports.Rerun{Agents: []string{"a"}}, ports.Rerun{Decide: true}
		for i, tt := range []struct {
			ask    ports.ReviewAsk
			want   ports.Rerun
			gaveUp bool // whether its review is given up
		}{
			{ports.ReviewAsk{Rerun: a}, a, true},
			{ports.ReviewAsk{Rerun: decide}, a, true},
			{ports.ReviewAsk{Rerun: decide, ByHand: true}, decide, false},
			{ports.ReviewAsk{Rerun: a}, a, true},
			{ports.ReviewAsk{Rerun: decide}, a, false},
			{ports.ReviewAsk{Rerun: decide}, decide, false},
			{ports.ReviewAsk{}, ports.Rerun{}, true},
			{ports.ReviewAsk{Rerun: decide}, ports.Rerun{}, true},
		} {
			tt.ask.Target = g
			if err := f.Ask(f.ctx, tt.ask); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, f.state(t, g.Key()).Rerun); diff != "" {
				t.Errorf("ask %d (-want +got):\n%s", i, diff)
			}
			f.finish(t, g.Key(), tt.gaveUp)
		}
	},
	"is that of the ask": func(t *testing.T, f *fixture) {
		for i, want := range []ports.Rerun{{}, {Full: true}, {Decide: true}, {Agents: []string{"a", "b"}}} {
			g := pull(i+1, "aaa")
			if err := f.Ask(f.ctx, ports.ReviewAsk{Target: g, Rerun: want}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, f.state(t, g.Key()).Rerun); diff != "" {
				t.Errorf("rerun (-want +got):\n%s", diff)
			}
		}
	},
	"pending asks are met together, finished ones are over": func(t *testing.T, f *fixture) {
		g := pull(1, "aaa")
		ask := func(r ports.Rerun) {
			if err := f.Ask(f.ctx, ports.ReviewAsk{Target: g, Rerun: r}); err != nil {
				t.Fatal(err)
			}
		}
		want := func(when string, want ports.Rerun) {
			t.Helper()
			if diff := cmp.Diff(want, f.state(t, g.Key()).Rerun); diff != "" {
				t.Errorf("%s (-want +got):\n%s", when, diff)
			}
		}
		ask(ports.Rerun{Decide: true})
		ask(ports.Rerun{Agents: []string{"b"}})
		ask(ports.Rerun{Agents: []string{"c", "a", "b"}})
		want("three asks", ports.Rerun{Agents: []string{"a", "b", "c"}})
		l := f.acquire(t, g.Key())
		if _, err := f.Finish(f.ctx, l, 2, false); err != nil {
			t.Fatal(err)
		}
		ask(ports.Rerun{Decide: true})
		want("while one is left", ports.Rerun{Agents: []string{"a", "b", "c"}})
		if _, err := f.Finish(f.ctx, l, 4, false); err != nil {
			t.Fatal(err)
		}
		ask(ports.Rerun{Decide: true})
		want("all finished, and asked anew", ports.Rerun{Decide: true})
		f.accept(t, push("pushed", pull(1, "bbb")))
		want("pushed meanwhile", ports.Rerun{})
	},
}
