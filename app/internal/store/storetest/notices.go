package storetest

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/app/ports"
)

func (f *fixture) wantNotices(t *testing.T, when string, g ports.Target, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, f.state(t, g.Key()).Notices); diff != "" {
		t.Errorf("notices, %s (-want +got):\n%s", when, diff)
	}
}

var noticeTests = map[string]func(*testing.T, *fixture){
	"a notice gets a job and keeps the lease until it is written": func(t *testing.T, f *fixture) {
		g := pull(1, "aaa")
		f.accept(t, push("1", g))
		f.finish(t, g.Key(), false)
		before := f.jobs(t)
		if err := f.AddNotice(f.ctx, g.Key(), "no such command"); err != nil {
			t.Fatal(err)
		}
		f.wantJobs(t, before+1, "after a notice")
		l := f.acquire(t, g.Key())
		for _, others := range [][]string{nil, {"another"}} {
			if err := f.NoticesWritten(f.ctx, g.Key(), others); err != nil {
				t.Fatal(err)
			}
			if more, err := f.Finish(f.ctx, l, 1, false); err != nil || !more {
				t.Fatalf("Finish = %v, %v; want more while the notice is not written", more, err)
			}
		}
		f.wantNotices(t, "after another one was written", g, "no such command")
		if err := f.NoticesWritten(f.ctx, g.Key(), []string{"no such command"}); err != nil {
			t.Fatal(err)
		}
		if more, err := f.Finish(f.ctx, l, 1, false); err != nil || more {
			t.Fatalf("Finish = %v, %v; want no more", more, err)
		}
	},
	"notices that come while others are written are kept": func(t *testing.T, f *fixture) {
		g := pull(1, "aaa")
		f.accept(t, push("1", g))
		for _, n := range []string{"a", "b", "a"} {
			if err := f.AddNotice(f.ctx, g.Key(), n); err != nil {
				t.Fatal(err)
			}
		}
		shown := f.state(t, g.Key()).Notices
		f.wantNotices(t, "each once, oldest first", g, "a", "b")
		if err := f.AddNotice(f.ctx, g.Key(), "c"); err != nil {
			t.Fatal(err)
		}
		if err := f.NoticesWritten(f.ctx, g.Key(), shown); err != nil {
			t.Fatal(err)
		}
		f.wantNotices(t, "after the first two were written", g, "c")
		if err := f.NoticesWritten(f.ctx, "pull/1/1", []string{"c"}); err != nil {
			t.Errorf("NoticesWritten for a forgotten target: %v", err)
		}
	},
	"a written notice stays for a while on its head": func(t *testing.T, f *fixture) {
		g := pull(1, "aaa")
		f.accept(t, push("1", g))
		say := func(n string) {
			t.Helper()
			if err := f.AddNotice(f.ctx, g.Key(), n); err != nil {
				t.Fatal(err)
			}
			if err := f.NoticesWritten(f.ctx, g.Key(), []string{n}); err != nil {
				t.Fatal(err)
			}
		}
		want := func(when string, want ...string) {
			t.Helper()
			if diff := cmp.Diff(want, f.state(t, g.Key()).WrittenNotices); diff != "" {
				t.Errorf("said, %s (-want +got):\n%s", when, diff)
			}
		}
		want("before anything was")
		say("a")
		f.clock.pass(ports.NoticeStay / 2)
		say("b")
		want("two", "a", "b")
		if err := f.AddNotice(f.ctx, g.Key(), "a"); err != nil {
			t.Fatal(err)
		}
		want("one is to be said again", "b")
		if err := f.NoticesWritten(f.ctx, g.Key(), []string{"a"}); err != nil {
			t.Fatal(err)
		}
		want("it was", "b", "a")
		f.clock.pass(ports.NoticeStay - time.Second)
		want("shortly before the end", "b", "a")
		f.clock.pass(time.Second)
		want("at the end")
		for i := range 2 * ports.MaxNotices {
			say(fmt.Sprint(i))
		}
		if got := f.state(t, g.Key()).WrittenNotices; len(got) != ports.MaxNotices || got[len(got)-1] != fmt.Sprint(2*ports.MaxNotices-1) {
			t.Errorf("of many there stay %q", got)
		}
		f.accept(t, push("2", pull(1, "bbb")))
		want("on another head")
	},
	"none of many notices at once is lost": func(t *testing.T, f *fixture) {
		g := pull(1, "aaa")
		f.accept(t, push("1", g))
		var wg sync.WaitGroup
		for i := range ports.MaxNotices {
			wg.Go(func() {
				if err := f.AddNotice(f.ctx, g.Key(), fmt.Sprint("notice ", i)); err != nil {
					t.Errorf("notice %d: %v", i, err)
				}
			})
		}
		wg.Wait()
		if n := len(f.state(t, g.Key()).Notices); n != ports.MaxNotices {
			t.Errorf("%d of %d notices are kept", n, ports.MaxNotices)
		}
		if err := f.AddNotice(f.ctx, g.Key(), "notice 0"); err != nil {
			t.Errorf("a notice that waits already: %v", err)
		}
		wantErr(t, "more than MaxNotices", f.AddNotice(f.ctx, g.Key(), "one more"), ports.ErrManyNotices)
	},
	"a command's answer comes with its mark, once": func(t *testing.T, f *fixture) {
		g := pull(1, "aaa")
		asked, refused := f.acceptedCommand(t, 1, g), f.acceptedCommand(t, 2, g)
		for range 2 { // a job may run again after a crash
			if err := f.Obey(f.ctx, asked, ports.Effect{Notice: "the answer"}, nil); err != nil {
				t.Fatal(err)
			}
			if err := f.Refuse(f.ctx, refused, "refused", "the reason"); err != nil {
				t.Fatal(err)
			}
			if err := f.Refuse(f.ctx, asked, "refused", "another reason"); err != nil {
				t.Fatal(err)
			}
		}
		f.wantNotices(t, "of both commands", g, "the answer", "the reason")
		if err := f.NoticesWritten(f.ctx, g.Key(), []string{"the answer", "the reason"}); err != nil {
			t.Fatal(err)
		}
		for _, err := range []error{
			f.Obey(f.ctx, asked, ports.Effect{Notice: "the answer"}, nil),
			f.Refuse(f.ctx, refused, "refused", "the reason"),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		f.wantNotices(t, "once they were said", g)
		cmds, err := f.AwaitingCommands(f.ctx, g.Key(), 0)
		if err != nil || len(cmds) != 1 || cmds[0].CommentID != 1 {
			t.Errorf("awaiting commands = %+v, %v; want the one that was answered", cmds, err)
		}
	},
	"a command is not done if there is no room for its answer": func(t *testing.T, f *fixture) {
		g := pull(1, "aaa")
		asked, refused := f.acceptedCommand(t, 1, g), f.acceptedCommand(t, 2, g)
		for i := range ports.MaxNotices {
			if err := f.AddNotice(f.ctx, g.Key(), fmt.Sprint("notice ", i)); err != nil {
				t.Fatal(err)
			}
		}
		for _, err := range []error{
			f.Obey(f.ctx, asked, ports.Effect{Notice: "the answer"}, nil),
			f.Refuse(f.ctx, refused, "refused", "the reason"),
		} {
			if !errors.Is(err, ports.ErrManyNotices) {
				t.Errorf("%v, want %v", err, ports.ErrManyNotices)
			}
		}
		for _, c := range []ports.Command{asked, refused} {
			if _, done, err := f.Command(f.ctx, c.Place, c.CommentID); done || err != nil {
				t.Errorf("command %d: done %t, %v", c.CommentID, done, err)
			}
		}
	},
}
