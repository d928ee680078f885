package storetest

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
)

// memoryFixture is a fixture with helpers for the tests of memory.
type memoryFixture struct{ *fixture }

// record returns a proposed record with one vote, as a dismissal on g teaches it.
func (f memoryFixture) record(g ports.Target, title string) ports.MemoryRecord {
	ann := ports.Person{Login: "ann", ID: 3}
	repo := g
	repo.Number, repo.HeadSHA = 0, ""
	now := f.clock.Now().Truncate(time.Microsecond)
	return ports.MemoryRecord{
		State: ports.MemoryProposed, Repository: repo, Models: true, Author: ann, Authors: []ports.Person{{Login: "carol", ID: 8}, {Login: "dan"}}, Created: now, Used: now,
		About: pipeline.FalsePositive{
			Service: "store", Globs: pipeline.List[string]{"a/**", "b c/*.go"}, Agent: "quality", Category: "reliability", Title: title, Reason: "the proxy ends it", Blocked: true,
		},
		Cited: ports.MemoryCitation{Key: g.Key(), Number: g.Number, Finding: "f00d", BaseRef: "main", Path: "a/b.go", Line: 7, Lines: []string{"00000001", "00000002"}, End: ports.PullOpen},
		Votes: []ports.MemoryVote{{Person: ann, Key: g.Key(), Finding: "f00d", At: now}},
	}
}

// remember stores a record, and returns its ID.
func (f memoryFixture) remember(t *testing.T, r ports.MemoryRecord) int64 {
	t.Helper()
	ids, err := f.ChangeMemory(f.ctx, []ports.MemoryChange{{New: &r, By: r.Author.Login, Why: "taught"}})
	if err != nil || len(ids) != 1 || ids[0] == 0 {
		t.Fatalf("store a record: %v, %v", ids, err)
	}
	return ids[0]
}

func (f memoryFixture) changeMemory(t *testing.T, c ports.MemoryChange) {
	t.Helper()
	if _, err := f.ChangeMemory(f.ctx, []ports.MemoryChange{c}); err != nil {
		t.Fatal(err)
	}
}

func (f memoryFixture) recordOf(t *testing.T, id int64) ports.MemoryRecord {
	t.Helper()
	r, err := f.MemoryRecord(f.ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// names lists the records that a filter chooses.
func (f memoryFixture) names(t *testing.T, which ports.MemoryFilter) (names []string) {
	t.Helper()
	all, err := f.MemoryRecords(f.ctx, which)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all {
		names = append(names, r.About.Title)
	}
	return names
}

func (f memoryFixture) patterns(t *testing.T, services []string, most int) (all []string) {
	t.Helper()
	some, err := f.MemoryPatterns(f.ctx, repoID, ports.PatternFilter{Services: services, Most: most})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range some {
		all = append(all, fmt.Sprintf("%s/%s %d", p.Service, p.Key, p.Frequency))
	}
	return all
}

func pattern(service, key string, frequency int) ports.MemoryPattern {
	return ports.MemoryPattern{Key: key, RecurringFinding: pipeline.RecurringFinding{
		Service: service, Rule: key, Title: "Title of " + key, Severity: pipeline.SeverityMajor, Frequency: frequency, Example: "a/b.go:7",
	}}
}

var memoryTests = with(func(f *fixture) memoryFixture { return memoryFixture{f} }, map[string]func(*testing.T, memoryFixture){
	"a record is kept with its votes": func(t *testing.T, f memoryFixture) {
		g := pull(1, "aaa")
		f.accept(t, push("push", g))
		want := f.record(g, "Request is never ended")
		id := f.remember(t, want)
		want.ID = id
		if diff := cmp.Diff(want, f.recordOf(t, id), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("the record (-want +got):\n%s", diff)
		}
		if want.Name() != fmt.Sprintf("M-%d", id) || ports.MemoryID(want.Name()) != id {
			t.Errorf("its name is %s", want.Name())
		}

		f.clock.pass(time.Hour)
		vote := ports.MemoryVote{Person: ports.Person{Login: "bob", ID: 4}, Key: "pull/77/2", Finding: "beef", Own: true, At: f.clock.Now()}
		f.changeMemory(t, ports.MemoryChange{ID: id, Vote: &vote, By: "bob"})
		f.changeMemory(t, ports.MemoryChange{ID: id, Vote: &vote, By: "bob"})
		if got := f.recordOf(t, id); len(got.Votes) != 2 || got.State != ports.MemoryProposed || !got.Used.Equal(want.Used) {
			t.Errorf("after two equal votes: %+v", got)
		}
		f.changeMemory(t, ports.MemoryChange{ID: id, Unvote: &vote, By: "bob"})

		f.changeMemory(t, ports.MemoryChange{
			ID: id, From: ports.MemoryProposed, To: ports.MemoryActive, Approver: ports.Person{Login: "mia", ID: 9}, Organisation: true, Uncited: true, By: "mia", Why: "approved",
		})
		want.State, want.Approver, want.Organisation, want.Used, want.Cited.Lines = ports.MemoryActive, ports.Person{Login: "mia", ID: 9}, true, f.clock.Now(), nil
		if diff := cmp.Diff(want, f.recordOf(t, id), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("the approved record (-want +got):\n%s", diff)
		}
		if _, err := f.ChangeMemory(f.ctx, []ports.MemoryChange{{ID: id, From: ports.MemoryProposed, To: ports.MemoryRevoked}}); !errors.Is(err, ports.ErrMemoryChanged) {
			t.Errorf("a change of the state that it had before: %v", err)
		}
		wantErr(t, "a change of no record", func() error { _, err := f.ChangeMemory(f.ctx, []ports.MemoryChange{{ID: 999}}); return err }(), ports.ErrNotFound)
		log, err := f.MemoryLog(f.ctx, f.recordOf(t, id), 10)
		if err != nil || len(log) != 6 || log[0].Actor != "mia" || log[0].Subject != want.Name() {
			t.Fatalf("the log is %+v, %v", log, err)
		}
		for i, action := range []string{"memory active", "memory organisation", "memory unvote", "memory vote", "memory vote", "memory proposed"} {
			if log[i].Action != action {
				t.Errorf("entry %d of the log is %+v, want %s", i, log[i], action)
			}
		}
	},
	"of a person, the newest vote counts": func(t *testing.T, f memoryFixture) {
		id := f.remember(t, f.record(pull(1, "aaa"), "x"))
		bob := ports.Person{Login: "bob", ID: 4}
		for _, v := range []ports.MemoryVote{
			{Person: bob, Key: "one", Own: true}, {Person: bob, Key: "two"}, {Person: ports.Person{Login: "Bob", ID: 4}, Key: "three"}, {Person: ports.Person{Login: "robert", ID: 4}, Key: "four"},
			{Person: ports.Person{Login: "eve"}, Key: "five"}, {Person: bob, Key: "six", Own: true}, {Person: bob, Key: "seven", Own: true},
		} {
			f.clock.pass(time.Minute)
			v.At = f.clock.Now()
			f.changeMemory(t, ports.MemoryChange{ID: id, Vote: &v, By: v.Person.Login})
		}
		var keys []string
		for _, v := range f.recordOf(t, id).Votes[1:] {
			keys = append(keys, v.Key)
		}
		if diff := cmp.Diff([]string{"four", "five", "seven"}, keys); diff != "" {
			t.Errorf("votes (-want +got):\n%s", diff)
		}
	},
	"commands at once don't miss each other": func(t *testing.T, f memoryFixture) {
		g := pull(1, "aaa")
		r := f.record(g, "Request is never ended")
		id := f.remember(t, r)
		vote := func(login string, seen int) error {
			v := ports.MemoryVote{Person: ports.Person{Login: login}, Key: login, At: f.clock.Now()}
			_, err := f.ChangeMemory(f.ctx, []ports.MemoryChange{{ID: id, From: ports.MemoryProposed, Vote: &v, Votes: seen}})
			return err
		}
		if err := vote("bob", 1); err != nil {
			t.Fatal(err)
		}
		wantErr(t, "a vote of somebody who has not seen bob's", vote("cat", 1), ports.ErrMemoryChanged)
		if err := vote("cat", 2); err != nil {
			t.Fatal(err)
		}
		none, seen := int64(0), id
		other := f.record(g, "Missing index of orders")
		for _, test := range []struct {
			name   string
			change ports.MemoryChange
			want   error
		}{
			{"one like it, unseen", ports.MemoryChange{New: &r, Newest: &none}, ports.ErrMemoryChanged},
			{"one like it, seen", ports.MemoryChange{New: &r, Newest: &seen}, nil},
			{"another one", ports.MemoryChange{New: &other, Newest: &none}, nil},
			{"without saying so much", ports.MemoryChange{New: &r}, nil},
		} {
			if _, err := f.ChangeMemory(f.ctx, []ports.MemoryChange{test.change}); !errors.Is(err, test.want) {
				t.Errorf("%s: %v, want %v", test.name, err, test.want)
			}
		}
	},
	"old proposals expire": func(t *testing.T, f memoryFixture) {
		g := pull(1, "aaa")
		states := map[string]ports.MemoryState{"proposed": ports.MemoryProposed, "quarantined": ports.MemoryQuarantined, "active": ports.MemoryActive, "revoked": ports.MemoryRevoked}
		ids := map[string]int64{}
		for title, state := range states {
			ids[title] = f.remember(t, f.record(g, title))
			f.changeMemory(t, ports.MemoryChange{ID: ids[title], To: state})
		}
		f.clock.pass(time.Hour)
		fresh := f.remember(t, f.record(g, "fresh"))
		for _, test := range []struct {
			before time.Time
			want   int
		}{{f.clock.Now().Add(-2 * time.Hour), 0}, {f.clock.Now().Add(-time.Minute), 2}, {f.clock.Now().Add(-time.Minute), 0}} {
			if n, err := f.Prune(f.ctx, ports.Ages{Memory: test.before}); n != test.want || err != nil {
				t.Errorf("%d records expire, %v; want %d", n, err, test.want)
			}
		}
		for title, state := range states {
			if title == "proposed" || title == "quarantined" {
				state = ports.MemoryExpired
			}
			if got := f.recordOf(t, ids[title]).State; got != state {
				t.Errorf("%s is %s, want %s", title, got, state)
			}
		}
		if got := f.recordOf(t, fresh).State; got != ports.MemoryProposed {
			t.Errorf("a new one is %s", got)
		}
	},
	"all changes are made, or none": func(t *testing.T, f memoryFixture) {
		g := pull(1, "aaa")
		r := f.record(g, "One")
		_, err := f.ChangeMemory(f.ctx, []ports.MemoryChange{{New: &r}, {ID: 999, To: ports.MemoryActive}})
		wantErr(t, "with a change of no record", err, ports.ErrNotFound)
		if got := f.names(t, ports.MemoryFilter{}); len(got) > 0 {
			t.Errorf("stored nevertheless: %v", got)
		}
	},
	"records are chosen": func(t *testing.T, f memoryFixture) {
		g := pull(1, "aaa")
		own, other, elsewhere := g, g, g
		other.RepoID, elsewhere.RepoID, elsewhere.Owner = repoID+1, repoID+2, "umbrella"
		ids := map[string]int64{}
		for title, at := range map[string]ports.Target{"own": own, "other": other, "other, all": other, "elsewhere, all": elsewhere} {
			ids[title] = f.remember(t, f.record(at, title))
		}
		for _, title := range []string{"other, all", "elsewhere, all"} {
			f.clock.pass(time.Minute)
			f.changeMemory(t, ports.MemoryChange{ID: ids[title], To: ports.MemoryActive, Organisation: true})
		}
		sortStrings := cmpopts.SortSlices(func(a, b string) bool { return a < b })
		holding := g
		holding.Owner = "ACME"
		for name, test := range map[string]struct {
			which ports.MemoryFilter
			want  []string
		}{
			"all":                  {ports.MemoryFilter{}, []string{"own", "other", "other, all", "elsewhere, all"}},
			"of a repository":      {ports.MemoryFilter{RepoID: repoID + 1}, []string{"other", "other, all"}},
			"that hold":            {ports.MemoryFilter{Holding: holding}, []string{"own", "other, all"}},
			"active":               {ports.MemoryFilter{States: []ports.MemoryState{ports.MemoryActive, ports.MemoryRevoked}}, []string{"other, all", "elsewhere, all"}},
			"active of the own":    {ports.MemoryFilter{RepoID: repoID, States: []ports.MemoryState{ports.MemoryActive}}, nil},
			"the one used last":    {ports.MemoryFilter{Newest: 1}, []string{"elsewhere, all"}},
			"the one of the owner": {ports.MemoryFilter{Holding: holding, Newest: 1}, []string{"other, all"}},
		} {
			if diff := cmp.Diff(test.want, f.names(t, test.which), sortStrings); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		}
	},
	"a repository has so many records": func(t *testing.T, f memoryFixture) {
		g := pull(1, "aaa")
		var first int64
		for i := range ports.MaxMemoryRecords {
			id := f.remember(t, f.record(g, fmt.Sprint(i)))
			if i == 0 {
				first = id
			}
		}
		r := f.record(g, "one more")
		_, err := f.ChangeMemory(f.ctx, []ports.MemoryChange{{New: &r}})
		wantErr(t, "one more", err, ports.ErrMemoryFull)

		rule := f.record(g, "of a rule")
		rule.Models = false
		f.remember(t, rule) // takes no place of those about models

		said := ""
		e := ports.Effect{Dismiss: []pipeline.Dismissal{{Fingerprint: "f1", Class: "false_positive"}}, BaseRef: "main",
			Memory: []ports.MemoryChange{{New: &r, Say: func(id int64) string { said = fmt.Sprint("refused: ", id); return said }}}}
		f.change(t, 1, g, e)
		if st := f.state(t, g.Key()); said != "refused: 0" || len(st.Notices) != 1 || st.Notices[0] != said || len(f.taught(t, g.Key(), "aaa", "main").Dismissed) != 1 {
			t.Errorf("a dismissal says %q, %+v", said, st.Notices)
		}
		f.changeMemory(t, ports.MemoryChange{ID: first, To: ports.MemoryRevoked})
		second := f.remember(t, r)
		_, err = f.ChangeMemory(f.ctx, []ports.MemoryChange{{ID: first, To: ports.MemoryProposed}})
		wantErr(t, "the revoked one is proposed again", err, ports.ErrMemoryFull)

		for i := range ports.MaxMemoryRecords { // those that ended are bounded, too
			f.changeMemory(t, ports.MemoryChange{ID: second, To: ports.MemoryExpired})
			f.clock.pass(time.Second)
			second = f.remember(t, f.record(g, fmt.Sprint("ended ", i)))
		}
		if n := len(f.names(t, ports.MemoryFilter{})); n != 2*ports.MaxMemoryRecords+1 {
			t.Errorf("%d records", n)
		}
		_, err = f.MemoryRecord(f.ctx, first)
		wantErr(t, "the oldest", err, ports.ErrNotFound)
	},
	"a command teaches": func(t *testing.T, f memoryFixture) {
		g := pull(1, "aaa")
		r := f.record(g, "Taught by a command")
		dismissal := pipeline.Dismissal{Fingerprint: "f00d", Path: "a.go", Class: "false_positive", Reason: "no", By: "ann"}
		f.change(t, 1, g, ports.Effect{
			Dismiss: []pipeline.Dismissal{dismissal}, BaseRef: "main",
			Memory: []ports.MemoryChange{{New: &r, By: "ann", Say: ports.MemoryName}},
		})
		f.wantTaught(t, "dismissed", g, pipeline.Memory{Dismissed: pipeline.List[pipeline.Dismissal]{dismissal}})
		all, err := f.MemoryRecords(f.ctx, ports.MemoryFilter{RepoID: repoID})
		if err != nil || len(all) != 1 || len(all[0].Votes) != 1 {
			t.Fatalf("records %+v, %v", all, err)
		}
		if st := f.state(t, g.Key()); len(st.Notices) != 1 || st.Notices[0] != all[0].Name() {
			t.Errorf("notices %v", st.Notices)
		}
		// The same command again changes nothing, as after a crash.
		c := command(1, g)
		if err := f.Obey(f.ctx, c, ports.Effect{Memory: []ports.MemoryChange{{New: &r}}}, nil); err != nil {
			t.Fatal(err)
		}
		// A command that saw another state changes nothing, not even the dismissal.
		c = f.acceptedCommand(t, 2, g)
		err = f.Obey(f.ctx, c, ports.Effect{Restore: []string{"f00d"}, Memory: []ports.MemoryChange{{ID: all[0].ID, From: ports.MemoryActive, To: ports.MemoryRevoked}}}, nil)
		wantErr(t, "Obey", err, ports.ErrMemoryChanged)
		if got := f.names(t, ports.MemoryFilter{}); len(got) != 1 || len(f.taught(t, g.Key(), "aaa", "main").Dismissed) != 1 {
			t.Errorf("records %v", got)
		}
	},
	"a record knows how its pull request ended": func(t *testing.T, f memoryFixture) {
		want := func(when string, id int64, end ports.PullEnd) {
			t.Helper()
			if got := f.recordOf(t, id).Cited.End; got != end {
				t.Errorf("%s: %s, want %s", when, got, end)
			}
		}
		for i, end := range []ports.PullEnd{ports.PullMerged, ports.PullClosed} {
			g := pull(i+1, "aaa")
			f.accept(t, push("push"+g.Key(), g))
			id := f.remember(t, f.record(g, "x"))
			want("open", id, ports.PullOpen)
			f.accept(t, asking("close"+g.Key(), ports.Close{Target: g, Merged: end == ports.PullMerged}))
			want("ended", id, end)
			if err := f.ForgetTarget(f.ctx, f.acquire(t, g.Key())); err != nil {
				t.Fatal(err)
			}
			want("deleted", id, end)
		}
	},
	"the commit at which lines were found": func(t *testing.T, f memoryFixture) {
		id := f.remember(t, f.record(pull(1, "aaa"), "x"))
		if err := f.CheckedMemory(f.ctx, id, "base1"); err != nil {
			t.Fatal(err)
		}
		if got := f.recordOf(t, id).Cited.CheckedAt; got != "base1" {
			t.Errorf("found at %q", got)
		}
		wantErr(t, "of no record", f.CheckedMemory(f.ctx, 999, "base1"), ports.ErrNotFound)
	},
	"a review counts once, when it is published": func(t *testing.T, f memoryFixture) {
		g := pull(1, "aaa")
		f.accept(t, push("push", g))
		id := f.remember(t, f.record(g, "x"))
		f.clock.pass(time.Hour)
		r := stored("run-1", g, 1, "aaa")
		r.Memory = ports.MemoryCounts{Hits: map[int64]int{id: 2, 999: 1}, Seen: []ports.MemoryPattern{pattern("store", "rule-a", 0), pattern("", "rule-b", 0), pattern("store", "rule-b", 0)}}
		f.save(t, r, false)
		if got := f.patterns(t, nil, 0); len(got) > 0 {
			t.Errorf("before it is published: %v", got)
		}
		published := f.clock.Now()
		for range 3 { // as after a crash
			if err := f.MarkPublished(f.ctx, "run-1"); err != nil {
				t.Fatal(err)
			}
			f.clock.pass(time.Minute)
		}
		if got := f.recordOf(t, id); got.Hits != 2 || !got.Used.Equal(published) {
			t.Errorf("hits %d, used %s", got.Hits, got.Used)
		}
		want := []string{"/rule-b 1", "store/rule-a 1", "store/rule-b 1"}
		if diff := cmp.Diff(want, f.patterns(t, nil, 0)); diff != "" {
			t.Errorf("patterns (-want +got):\n%s", diff)
		}

		f.clock.pass(24 * time.Hour)
		other := pull(2, "bbb")
		f.accept(t, push("push-2", other))
		second := stored("run-2", other, 1, "bbb")
		later := pattern("store", "rule-a", 0)
		later.Title, later.Example = "Newer", "c.go:1"
		second.Memory.Seen = []ports.MemoryPattern{later}
		f.save(t, second, true)
		all, err := f.MemoryPatterns(f.ctx, repoID, ports.PatternFilter{Services: []string{"store"}, Since: published.Add(time.Hour)})
		if err != nil || len(all) != 1 || all[0].Frequency != 2 || all[0].Title != "Newer" || all[0].Example != "c.go:1" || all[0].Rule != "rule-a" || all[0].Severity != pipeline.SeverityMajor {
			t.Errorf("seen since: %+v, %v", all, err)
		}
		if diff := cmp.Diff([]string{"store/rule-a 2", "/rule-b 1"}, f.patterns(t, []string{"store", ""}, 1)); diff != "" {
			t.Errorf("one of each service (-want +got):\n%s", diff)
		}
		for _, s := range []string{"unpublished", "dropped"} {
			r := stored(s, g, 3, "ccc")
			r.Memory.Seen = []ports.MemoryPattern{pattern("", s, 1)}
			f.save(t, r, false)
		}
		if err := f.DropReview(f.ctx, "dropped"); err != nil {
			t.Fatal(err)
		}
		if got := f.patterns(t, nil, 0); len(got) != 3 {
			t.Errorf("with a review that was not published: %v", got)
		}
	},
	"a pull request counts once, and not for itself": func(t *testing.T, f memoryFixture) {
		g := pull(1, "aaa")
		f.accept(t, push("push", g))
		for i, run := range []string{"run-1", "run-2"} {
			r := stored(run, g, int64(i+1), "aaa")
			r.Memory.Seen = []ports.MemoryPattern{pattern("", "rule-a", 0)}
			f.save(t, r, true)
			f.clock.pass(time.Hour)
		}
		if diff := cmp.Diff([]string{"/rule-a 1"}, f.patterns(t, nil, 0)); diff != "" {
			t.Errorf("patterns (-want +got):\n%s", diff)
		}
		for key, want := range map[string]int{g.Key(): 0, pull(2, "bbb").Key(): 1} {
			all, err := f.MemoryPatterns(f.ctx, repoID, ports.PatternFilter{Without: key, Since: time.Unix(0, 0)})
			if err != nil || len(all) != 1 || all[0].Frequency != want || all[0].LastSeen.Unix() > 0 != (want > 0) {
				t.Errorf("without %s: %+v, %v", key, all, err)
			}
		}
	},
	"what somebody without permission had reviewed counts once it is merged": func(t *testing.T, f memoryFixture) {
		for number, ends := range map[int]func(ports.Target) error{
			1: func(g ports.Target) error { return f.SetClosed(f.ctx, ports.Close{Target: g, Merged: true}) },
			2: func(g ports.Target) error { return f.SetClosed(f.ctx, ports.Close{Target: g}) },
		} {
			g := pull(number, "aaa")
			f.accept(t, push(fmt.Sprint("push-", number), g))
			id := f.remember(t, f.record(g, fmt.Sprint("x", number)))
			r := stored(fmt.Sprint("run-", number), g, 1, "aaa")
			key := fmt.Sprint("rule-", number)
			r.Memory = ports.MemoryCounts{Outside: true, Hits: map[int64]int{id: 1}, Seen: []ports.MemoryPattern{pattern("", key, 0)}}
			f.save(t, r, true)
			if got := f.patterns(t, nil, 0); slices.Contains(got, "/"+key+" 1") || f.recordOf(t, id).Hits != 1 {
				t.Errorf("while it is open: %v", got)
			}
			for range 2 {
				if err := ends(g); err != nil {
					t.Fatal(err)
				}
			}
			if got := f.recordOf(t, id).Hits; got != 1 {
				t.Errorf("%d hits", got)
			}
		}
		if diff := cmp.Diff([]string{"/rule-1 1"}, f.patterns(t, nil, 0)); diff != "" {
			t.Errorf("patterns (-want +got):\n%s", diff)
		}
	},
	"imported patterns": func(t *testing.T, f memoryFixture) {
		old, seen := pattern("store", "rule-a", 3), pattern("store", "rule-a", 9)
		old.LastSeen, seen.LastSeen = f.clock.Now(), f.clock.Now().Add(-time.Hour)
		seen.Title = "Older"
		for _, p := range []ports.MemoryPattern{old, seen, old} {
			if err := f.AddMemoryPatterns(f.ctx, repoID, []ports.MemoryPattern{p}); err != nil {
				t.Fatal(err)
			}
		}
		all, err := f.MemoryPatterns(f.ctx, repoID, ports.PatternFilter{})
		if err != nil || len(all) != 1 || all[0].Frequency != 9 || !all[0].LastSeen.Equal(old.LastSeen) || all[0].Title != old.Title {
			t.Errorf("patterns %+v, %v", all, err)
		}
	},
	"a repository has so many patterns": func(t *testing.T, f memoryFixture) {
		var many []ports.MemoryPattern
		for i := range ports.MaxMemoryPatterns + 5 {
			p := pattern("store", fmt.Sprintf("rule-%04d", i), 1)
			p.LastSeen = f.clock.Now().Add(time.Duration(i) * time.Second)
			many = append(many, p)
		}
		if err := f.AddMemoryPatterns(f.ctx, repoID, many); err != nil {
			t.Fatal(err)
		}
		all, err := f.MemoryPatterns(f.ctx, repoID, ports.PatternFilter{})
		if err != nil || len(all) != ports.MaxMemoryPatterns || all[0].Key != "rule-1004" || all[len(all)-1].Key != "rule-0005" {
			t.Errorf("%d patterns, %v", len(all), err)
		}
	},
	"memory goes with the repository, and not with a pull request": func(t *testing.T, f memoryFixture) {
		g := pull(1, "aaa")
		f.fill(t, g, 1)
		id := f.remember(t, f.record(g, "x"))
		keep := of(6, repoID+1, 1, "aaa")
		f.fill(t, keep, 2)
		kept := f.remember(t, f.record(keep, "kept"))
		if err := f.AddMemoryPatterns(f.ctx, repoID, []ports.MemoryPattern{pattern("", "x", 1)}); err != nil {
			t.Fatal(err)
		}
		if err := f.ForgetTarget(f.ctx, f.acquire(t, g.Key())); err != nil {
			t.Fatal(err)
		}
		r := f.recordOf(t, id)
		if log, err := f.MemoryLog(f.ctx, r, 9); err != nil || len(log) != 1 || len(r.Votes) != 1 {
			t.Errorf("without the pull request: %+v, %v", r, err)
		}
		f.forget(t, ports.Forget{Installation: 5})
		_, err := f.MemoryRecord(f.ctx, id)
		wantErr(t, "without the repository", err, ports.ErrNotFound)
		log, err := f.MemoryLog(f.ctx, r, 9)
		if err != nil || len(log) > 0 || len(f.patterns(t, nil, 0)) > 0 {
			t.Errorf("what is left: %v, %v", log, err)
		}
		if got := f.recordOf(t, kept); len(got.Votes) != 1 {
			t.Errorf("of another repository: %+v", got)
		}
	},
	"repositories are known by their names": func(t *testing.T, f memoryFixture) {
		old := of(5, repoID, 1, "aaa")
		f.accept(t, push("1", old))
		f.clock.pass(time.Minute)
		renamed := of(5, repoID, 2, "bbb")
		renamed.Name = "store"
		f.accept(t, push("2", renamed))
		other := of(6, repoID+1, 1, "aaa")
		other.Owner = "umbrella"
		f.accept(t, push("3", other))
		all, err := f.KnownRepositories(f.ctx)
		want := []ports.Target{{Kind: ports.TargetPull, Installation: 5, RepoID: repoID, Owner: "acme", Name: "store"}, {Kind: ports.TargetPull, Installation: 6, RepoID: repoID + 1, Owner: "umbrella", Name: "shop"}}
		if diff := cmp.Diff(want, all); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	},
})
