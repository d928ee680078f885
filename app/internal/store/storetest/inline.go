package storetest

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/app/ports"
)

var inlineTests = map[string]func(*testing.T, *fixture){
	"are kept by fingerprint": func(t *testing.T, f *fixture) {
		l, other := f.acquire(t, "pull/77/1"), f.acquire(t, "pull/77/2")
		if all, err := f.InlineComments(f.ctx, l.Key); len(all) > 0 || err != nil {
			t.Fatalf("before any: %v, %v; want none", all, err)
		}
		one := ports.InlineComment{Fingerprint: "aa", RunID: "run", State: ports.InlineIntended}
		two := ports.InlineComment{Fingerprint: "bb", State: ports.InlineFixed, RemoteID: 1 << 40, NodeID: "PRRC_1", ThreadID: "PRRT_1"}
		if err := errors.Join(f.SaveInline(f.ctx, l, []ports.InlineComment{two, one}), f.SaveInline(f.ctx, other, []ports.InlineComment{one}), f.SaveInline(f.ctx, other, nil)); err != nil {
			t.Fatal(err)
		}
		one.RunID, one.State, one.RemoteID, one.NodeID, one.ThreadID = "next", ports.InlineOpen, 7, "PRRC_7", "PRRT_7"
		one.Unpublished = true // there is no such review
		if err := f.SaveInline(f.ctx, l, []ports.InlineComment{one}); err != nil {
			t.Fatal(err)
		}
		got, err := f.InlineComments(f.ctx, l.Key)
		if diff := cmp.Diff([]ports.InlineComment{one, two}, got); err != nil || diff != "" {
			t.Errorf("comments (-want +got), %v:\n%s", err, diff)
		}
		if got, err := f.InlineComments(f.ctx, other.Key); err != nil || len(got) != 1 || got[0].State != ports.InlineIntended {
			t.Errorf("of the other target: %v, %v", got, err)
		}
	},
	"tell whether their review was published": func(t *testing.T, f *fixture) {
		g := pull(1, "aaa")
		f.accept(t, push("opened", g))
		l := f.acquire(t, g.Key())
		if err := f.SaveInline(f.ctx, l, []ports.InlineComment{{Fingerprint: "aa", RunID: "first"}, {Fingerprint: "bb", RunID: "second"}}); err != nil {
			t.Fatal(err)
		}
		if err := f.Release(f.ctx, l); err != nil {
			t.Fatal(err)
		}
		f.save(t, stored("first", g, 1, g.HeadSHA), true)
		f.save(t, stored("second", g, 1, g.HeadSHA), false)
		all, err := f.InlineComments(f.ctx, g.Key())
		if err != nil || len(all) != 2 || all[0].Unpublished || !all[1].Unpublished {
			t.Errorf("comments %+v, %v", all, err)
		}
	},
	"are stored only by the holder of the lease": func(t *testing.T, f *fixture) {
		l := f.acquire(t, "pull/77/1")
		lost := l
		lost.Token--
		wantErr(t, "SaveInline", f.SaveInline(f.ctx, lost, []ports.InlineComment{{Fingerprint: "aa", State: ports.InlineIntended}}), ports.ErrLeaseLost)
		if all, err := f.InlineComments(f.ctx, l.Key); len(all) > 0 || err != nil {
			t.Errorf("stored %v, %v", all, err)
		}
	},
}
