package storetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/app/ports"
)

func check(key, head, externalID string) ports.Write {
	return ports.Write{Kind: ports.WriteCheck, Subject: "77/" + head, Key: key, HeadSHA: head, ExternalID: externalID}
}

var writeTests = map[string]func(*testing.T, *fixture){
	"goes from intent to completed": func(t *testing.T, f *fixture) {
		l := f.acquire(t, "pull/77/1")
		if w, err := f.NewestWrite(f.ctx, ports.WriteCheck, "77/aaa"); w != nil || err != nil {
			t.Fatalf("before any: %v, %v; want none", w, err)
		}
		w, err := f.Intend(f.ctx, l, check(l.Key, "aaa", "x1"))
		if err != nil {
			t.Fatal(err)
		}
		if w.ID == 0 || w.State != ports.WriteIntended {
			t.Errorf("intent = %+v, want an id and the state intended", w)
		}
		w.RemoteID, w.State, w.Digest = 99, ports.WriteCompleted, "d"
		if err := f.Record(f.ctx, w); err != nil {
			t.Fatal(err)
		}
		got, err := f.NewestWrite(f.ctx, ports.WriteCheck, "77/aaa")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(&w, got); diff != "" {
			t.Errorf("write (-want +got):\n%s", diff)
		}
		second, err := f.Intend(f.ctx, l, check(l.Key, "aaa", "x2"))
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := f.NewestWrite(f.ctx, ports.WriteCheck, "77/aaa"); got.ID != second.ID {
			t.Errorf("newest = %+v, want the second", got)
		}
		if got, _ := f.NewestWrite(f.ctx, ports.WriteComment, "77/aaa"); got != nil {
			t.Errorf("a comment was found: %+v", got)
		}
		wantErr(t, "Record of no write", f.Record(f.ctx, ports.Write{ID: 12345}), ports.ErrNotFound)
	},
	"keeps what it says in fields of their own": func(t *testing.T, f *fixture) {
		l := f.acquire(t, "pull/77/1")
		for _, w := range []ports.Write{
			{Kind: ports.WriteCheck, Subject: "77/aaa", Conclusion: "failure", Digest: "d"},
			{Kind: ports.WriteCheck, Subject: "77/bbb", Conclusion: "failure", Sending: "d"},
			{Kind: ports.WriteReview, Subject: l.Key, Verdict: ports.ReviewApprove, BaseRef: "main"},
			{Kind: ports.WriteRequests, Subject: l.Key, Asked: []string{"ann", "acme/team"}, Asking: []string{"bob"}},
		} {
			w.Key = l.Key
			intended, err := f.Intend(f.ctx, l, w)
			if err != nil {
				t.Fatal(err)
			}
			w.ID, w.State = intended.ID, ports.WriteIntended
			got, err := f.NewestWrite(f.ctx, w.Kind, w.Subject)
			if diff := cmp.Diff(&w, got); err != nil || diff != "" {
				t.Errorf("intended (-want +got), %v:\n%s", err, diff)
			}
			w.Conclusion, w.Sending, w.Verdict, w.BaseRef, w.Asked, w.Asking = "success", "e", ports.ReviewReject, "release", []string{"cy"}, nil
			if err := f.Record(f.ctx, w); err != nil {
				t.Fatal(err)
			}
			got, err = f.NewestWrite(f.ctx, w.Kind, w.Subject)
			if diff := cmp.Diff(&w, got); err != nil || diff != "" {
				t.Errorf("recorded (-want +got), %v:\n%s", err, diff)
			}
		}
	},
	"checks are orphans while no open target has their head": func(t *testing.T, f *fixture) {
		l := f.acquire(t, "pull/77/1")
		other := f.acquire(t, "pull/77/2")
		intend := func(l ports.Lease, w ports.Write, s ports.WriteState) int64 {
			w, err := f.Intend(f.ctx, l, w)
			if err != nil {
				t.Fatal(err)
			}
			w.State = s
			if err := f.Record(f.ctx, w); err != nil {
				t.Fatal(err)
			}
			return w.ID
		}
		intended := intend(l, check(l.Key, "aaa", "1"), ports.WriteIntended)
		open := intend(l, check(l.Key, "bbb", "2"), ports.WriteOpen)
		intend(l, check(l.Key, "ccc", "3"), ports.WriteCompleted)
		intend(l, check(l.Key, "ddd", "4"), ports.WriteOpen)
		f.accept(t, push("there", pull(7, "ddd")))
		intend(l, ports.Write{Kind: ports.WriteComment, Subject: l.Key, Key: l.Key}, ports.WriteOpen)
		others := intend(other, check(other.Key, "eee", "5"), ports.WriteOpen)
		got, err := f.OpenChecks(f.ctx, repoID)
		if err != nil {
			t.Fatal(err)
		}
		var ids []int64
		for _, w := range got {
			ids = append(ids, w.ID)
		}
		if diff := cmp.Diff([]int64{intended, open, others}, ids); diff != "" {
			t.Errorf("ids (-want +got):\n%s", diff)
		}
	},
}

var commandTests = map[string]func(*testing.T, *fixture){
	"is known by its comment": func(t *testing.T, f *fixture) {
		g := pull(1, "")
		c := command(100, g)
		c.ReceivedAt = f.clock.Now()
		if a := f.accept(t, asking("c1", c)); a.NoOp || a.Key != "" {
			t.Errorf("command = %+v, want one without key", a)
		}
		f.wantJobs(t, 1, "after a command")
		if a := f.accept(t, asking("c2", c)); !a.NoOp {
			t.Errorf("the same comment under another GUID = %+v, want a no-op", a)
		}
		f.wantJobs(t, 1, "after the same comment again")
		got, done, err := f.Command(f.ctx, ports.PlaceConversation, 100)
		if err != nil || done {
			t.Fatalf("Command = %v, %v", done, err)
		}
		if diff := cmp.Diff(c, got); diff != "" {
			t.Errorf("command (-want +got):\n%s", diff)
		}
		if st := f.state(t, g.Key()); st.Wanted != 0 {
			t.Errorf("a command raised the generation to %d before it was accepted", st.Wanted)
		}
		_, _, err = f.Command(f.ctx, ports.PlaceConversation, 101)
		wantErr(t, "an unknown command", err, ports.ErrNotFound)
	},
	"is known by its place too": func(t *testing.T, f *fixture) {
		for i, place := range []ports.CommentPlace{ports.PlaceConversation, ports.PlaceReview, ports.PlaceReviewLine} {
			c := command(100, pull(i, ""))
			c.Place, c.Args, c.ReceivedAt = place, "0f3a not in our code", f.clock.Now()
			if a := f.accept(t, asking(guid(i), c)); a.NoOp {
				t.Errorf("the comment of this number is known in another place: %s", place)
			}
			got, _, err := f.Command(f.ctx, place, 100)
			if diff := cmp.Diff(c, got); err != nil || diff != "" {
				t.Errorf("%s: %v (-want +got):\n%s", place, err, diff)
			}
		}
		if err := f.FinishCommand(f.ctx, ports.PlaceReview, 100, "refused"); err != nil {
			t.Fatal(err)
		}
		for place, want := range map[ports.CommentPlace]bool{ports.PlaceConversation: false, ports.PlaceReview: true, ports.PlaceReviewLine: false} {
			if _, done, err := f.Command(f.ctx, place, 100); err != nil || done != want {
				t.Errorf("%s: done %t, %v", place, done, err)
			}
		}
	},
	"is accepted once": func(t *testing.T, f *fixture) {
		g := pull(1, "aaa")
		f.accept(t, comment("c1", 100, g))
		ask := ports.ReviewAsk{Target: g, Reason: "/review by ann"}
		for range 2 {
			if err := f.obey(100, ask); err != nil {
				t.Fatal(err)
			}
		}
		if st := f.state(t, g.Key()); st.Wanted != 1 || !st.Fresh || st.Reason != ask.Reason {
			t.Errorf("state = %+v, want one fresh generation", st)
		}
		if _, done, _ := f.Command(f.ctx, ports.PlaceConversation, 100); !done {
			t.Error("an accepted command isn't done")
		}
		wantErr(t, "an unknown command", f.obey(101, ask), ports.ErrNotFound)
	},
	"waits for its generation": func(t *testing.T, f *fixture) {
		g := pull(1, "aaa")
		ask := ports.ReviewAsk{Target: g, Reason: "/review"}
		for _, id := range []int64{100, 101, 102} {
			f.accept(t, comment(guid(int(id)), id, g))
		}
		for _, id := range []int64{100, 101} {
			if err := f.obey(id, ask); err != nil {
				t.Fatal(err)
			}
		}
		ids := func(generation int64) (all []int64) {
			cs, err := f.AwaitingCommands(f.ctx, g.Key(), generation)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range cs {
				all = append(all, c.CommentID)
			}
			return all
		}
		if diff := cmp.Diff([]int64{100}, ids(1)); diff != "" {
			t.Errorf("waiting for generation 1 (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]int64{100, 101}, ids(2)); diff != "" {
			t.Errorf("waiting for generation 2 (-want +got):\n%s", diff)
		}
		if err := f.FinishCommand(f.ctx, ports.PlaceConversation, 100, "done"); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]int64{101}, ids(2)); diff != "" {
			t.Errorf("after one was finished (-want +got):\n%s", diff)
		}
		if err := f.FinishCommand(f.ctx, ports.PlaceConversation, 102, "refused"); err != nil {
			t.Fatal(err)
		}
		if _, done, _ := f.Command(f.ctx, ports.PlaceConversation, 102); !done {
			t.Error("a refused command isn't done")
		}
		wantErr(t, "an unknown command", f.FinishCommand(f.ctx, ports.PlaceConversation, 103, "done"), ports.ErrNotFound)
	},
	"commands are counted by what became of them, and by sender": func(t *testing.T, f *fixture) {
		g := pull(1, "aaa")
		start := f.clock.Now()
		var last ports.Command
		for id := range int64(6) {
			last = command(id+1, g)
			last.ReceivedAt = start.Add(time.Duration(id) * time.Minute)
			if id%2 == 1 {
				last.Sender = "cy"
			}
			f.accept(t, asking(guid(int(id)), last))
			var err error
			switch id {
			case 0, 3: // waits
			case 2:
				err = f.Refuse(f.ctx, last, "refused", "why")
			case 4:
				err = f.FinishCommand(f.ctx, last.Place, last.CommentID, "ignored")
			default:
				err = f.obey(id+1, ports.ReviewAsk{Target: g})
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		earlier := last // by cy; cy's third command came later and does not count
		earlier.ReceivedAt = start.Add(3 * time.Minute)
		ann := last
		ann.Sender = "ann"
		other := last
		other.Target = pull(2, "")
		for _, tt := range []struct {
			what  string
			c     ports.Command
			since time.Duration
			want  ports.CommandCount
		}{
			{"all", last, 0, ports.CommandCount{Obeyed: 2, TurnedDown: 2, BySender: 3}},
			{"for an earlier command", earlier, 0, ports.CommandCount{Obeyed: 2, TurnedDown: 2, BySender: 2}},
			{"for another sender", ann, 0, ports.CommandCount{Obeyed: 2, TurnedDown: 2, BySender: 3}},
			{"for another sender, later", ann, 3 * time.Minute, ports.CommandCount{Obeyed: 1, TurnedDown: 1, BySender: 1}},
			{"after all", last, 6 * time.Minute, ports.CommandCount{}},
			{"another target", other, 0, ports.CommandCount{}},
		} {
			if n, err := f.CommandsSince(f.ctx, tt.c, start.Add(tt.since)); err != nil || n != tt.want {
				t.Errorf("%s: %+v, %v; want %+v", tt.what, n, err, tt.want)
			}
		}
	},
}
