package issues_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/app/inforce"
	"github.com/reviewgate/reviewgate/app/issues"
	"github.com/reviewgate/reviewgate/app/lease"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/retry"
	"github.com/reviewgate/reviewgate/config"
)

// world is a repository on GitHub, and its issues in the store.
type world struct {
	ports.Deferrals
	ports.Leases
	ports.Layers
	ports.Marks
	ports.IssueWriter
	settings string
	deferred []ports.Deferred // by ID, from 1
	issues   []ports.Issue    // by number, from 1
	calls    []string         // calls that change an issue
	refuses  map[string]ports.HostKind
	loses    string // a call that takes effect and whose answer is lost
	lost     bool   // whether the lease is lost
	refused  int    // how often the store recorded that the repository accepts no issues
	observed []string
	now      time.Time
}

func (w *world) ChangedDeferred(context.Context, int64) (changed []ports.Deferred, newest time.Time, err error) {
	for _, d := range w.deferred {
		if d.Changed {
			changed = append(changed, d)
		}
		if d.IntendedAt.After(newest) {
			newest = d.IntendedAt
		}
	}
	return changed, newest, nil
}

func (w *world) IntendDeferred(_ context.Context, _ ports.Lease, d ports.Deferred, limit int, since time.Time) (bool, error) {
	n := 0
	for _, other := range w.deferred {
		if other.IntendedAt.After(since) {
			n++
		}
	}
	if n >= limit {
		return false, nil
	}
	d.State, d.IntendedAt = ports.DeferredIntended, w.now
	w.deferred[d.ID-1] = d
	return true, nil
}

func (w *world) RecordDeferred(_ context.Context, d ports.Deferred) error {
	w.deferred[d.ID-1] = d
	return nil
}

func (w *world) Acquire(_ context.Context, key, owner string, _ time.Duration) (ports.Lease, bool, error) {
	return ports.Lease{Key: key, Owner: owner}, true, nil
}

func (w *world) Renew(context.Context, ports.Lease, time.Duration) error {
	if w.lost {
		return ports.ErrLeaseLost
	}
	return nil
}

func (*world) Release(context.Context, ports.Lease) error { return nil }

func (*world) RepositoryNames(context.Context, int64) ([]string, error) { return nil, nil }

func (w *world) GoodLayer(_ context.Context, _ int64, layer string) (*ports.GoodLayer, error) {
	if layer != config.LayerRepository {
		return nil, nil
	}
	return &ports.GoodLayer{Files: []ports.ConfigBlob{{Layer: layer, Path: config.FileSettings, Text: []byte(w.settings)}}}, nil
}

func (w *world) SetMark(context.Context, string, time.Time) error {
	w.refused++
	return nil
}

// change records a call, and applies it unless it is refused.
func (w *world) change(call string, effect func()) error {
	w.calls = append(w.calls, call)
	if kind := w.refuses[call]; kind != "" {
		return &ports.HostError{Op: call, Kind: kind, Err: errors.New("refused")}
	}
	effect()
	if w.loses == call {
		w.loses = ""
		return &ports.HostError{Op: call, Kind: ports.HostTransient, Err: errors.New("unexpected EOF")}
	}
	return nil
}

func (w *world) Issues(context.Context, ports.Target, time.Time) ([]ports.Issue, error) {
	all := slices.DeleteFunc(slices.Clone(w.issues), func(i ports.Issue) bool { return i.Number == 0 })
	slices.Reverse(all)
	return all, nil
}

func (w *world) Issue(_ context.Context, _ ports.Target, number int) (ports.Issue, error) {
	if i := w.issues[number-1]; i.Number != 0 {
		return i, nil
	}
	return ports.Issue{}, &ports.HostError{Op: "read the issue", Kind: ports.HostNotFound, Err: errors.New("gone")}
}

func (w *world) CreateIssue(_ context.Context, _ ports.Target, i ports.IssueWrite) (int, error) {
	number := len(w.issues) + 1
	err := w.change("create "+i.Title, func() { w.issues = append(w.issues, ports.Issue{Number: number, Body: i.Body, Open: true}) })
	if err != nil {
		return 0, err
	}
	return number, nil
}

func (w *world) UpdateIssue(_ context.Context, _ ports.Target, number int, body string, open bool) error {
	return w.change(fmt.Sprintf("update %d", number), func() { w.issues[number-1].Body, w.issues[number-1].Open = body, open })
}

// newWorld is a repository in which the warnings one, two and so on were merged. It allows
// two issues a day.
func newWorld(titles ...string) *world {
	w := &world{
		settings: `{"issues": {"tech_debt": true, "per_day": 2}}`, refuses: map[string]ports.HostKind{}, now: time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC),
	}
	for i, title := range titles {
		w.deferred = append(w.deferred, ports.Deferred{
			ID: int64(i + 1), Kind: ports.DeferredDebt, Key: title, Title: title, Body: "About " + title + ".", State: ports.DeferredWaiting, Changed: true, Seen: 1,
		})
	}
	return w
}

// work updates the issues.
func (w *world) work(t *testing.T) error {
	t.Helper()
	k := &issues.Tracker{
		Configs: &inforce.Configs{Layers: w, Loader: config.NewLoader(1)}, Deferrals: w, Marks: w, IssueWriter: w,
		Leases: lease.Keeper{Store: w, Owner: "us", TTL: time.Minute},
		Now:    func() time.Time { return w.now }, Observe: func(what string) { w.observed = append(w.observed, what) },
	}
	target := ports.Target{Kind: ports.TargetPull, RepoID: 2, Owner: "acme", Name: "shop"}
	return k.Work(t.Context(), ports.IssuesJob{Ask: ports.IssuesAsk{Target: target}}, 1)
}

// done does work that must not fail, and returns the calls.
func (w *world) done(t *testing.T) []string {
	t.Helper()
	w.calls, w.observed = nil, nil
	if err := w.work(t); err != nil {
		t.Fatal(err)
	}
	return w.calls
}

func (w *world) states() (all []ports.DeferredState) {
	for _, d := range w.deferred {
		all = append(all, d.State)
	}
	return all
}

func TestIssuesWaitForAnotherDay(t *testing.T) {
	w := newWorld("one", "two", "three", "four", "five")
	for day, want := range [][]string{{"create one", "create two"}, {"create three", "create four"}, {"create five"}, nil} {
		for range 2 { // another job on the same day changes nothing
			if diff := cmp.Diff(want, w.done(t)); diff != "" {
				t.Errorf("day %d: calls (-want +got):\n%s", day+1, diff)
			}
			want = nil
		}
		if waiting := slices.Contains(w.observed, "waiting"); waiting != (day < 2) {
			t.Errorf("day %d: observed %v", day+1, w.observed)
		}
		w.now = w.now.Add(issues.Day + time.Minute)
	}
}

// The answer to a create may not arrive. The next try looks for the issue by its first
// line. The intended issue already counts in the daily limit.
func TestIssueIsOpenedOnce(t *testing.T) {
	for name, arrives := range map[string]bool{"it is there": true, "it is not there": false} {
		synctest.Test(t, func(t *testing.T) { // GitHub's list is read twice, a moment apart
			w := newWorld("one", "two", "three")
			if arrives {
				w.loses = "create two"
			} else {
				w.refuses["create two"] = ports.HostTransient
			}
			if err := w.work(t); err == nil || !retry.Temporary(err) {
				t.Fatalf("%s: error %v", name, err)
			}
			delete(w.refuses, "create two")
			var want []string // the limit allows no third issue
			if !arrives {
				want = []string{"create two"}
			}
			if diff := cmp.Diff(want, w.done(t)); diff != "" || len(w.issues) != 2 {
				t.Errorf("%s: issues %+v, calls (-want +got):\n%s", name, w.issues, diff)
			}
			if d := w.deferred[1]; d.State != ports.DeferredOpen || d.Number != 2 || d.Changed {
				t.Errorf("%s: %+v", name, d)
			}
		})
	}
}

// A store that was restored from a backup does not know the issues since then. They are
// taken over and updated, and do not count in today's limit.
func TestIssuesOfARestoredStoreAreTakenOver(t *testing.T) {
	w := newWorld("one", "two", "three")
	backup := slices.Clone(w.deferred)
	w.done(t)
	w.deferred = backup
	w.deferred[1].Seen = 3
	if diff := cmp.Diff([]string{"update 2", "create three"}, w.done(t)); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]ports.DeferredState{ports.DeferredOpen, ports.DeferredOpen, ports.DeferredOpen}, w.states()); diff != "" {
		t.Errorf("states (-want +got):\n%s", diff)
	}
}

// An issue belongs to people once somebody closes it, deletes it or removes its first line.
func TestIssueOfPeopleIsLeftAlone(t *testing.T) {
	for name, test := range map[string]struct {
		people   func(*ports.Issue)
		resolved bool
		calls    []string
		open     bool // in the end
		state    ports.DeferredState
	}{
		"nobody touched it":             {func(*ports.Issue) {}, false, []string{"update 1"}, true, ports.DeferredOpen},
		"nobody touched it, resolved":   {func(*ports.Issue) {}, true, []string{"update 1"}, false, ports.DeferredClosed},
		"somebody wrote below it":       {func(i *ports.Issue) { i.Body += "\nI see to it." }, false, []string{"update 1"}, true, ports.DeferredOpen},
		"somebody closed it":            {func(i *ports.Issue) { i.Open = false }, false, nil, false, ports.DeferredLeft},
		"somebody closed it, resolved":  {func(i *ports.Issue) { i.Open = false }, true, nil, false, ports.DeferredLeft},
		"somebody deleted it":           {func(i *ports.Issue) { *i = ports.Issue{} }, false, nil, false, ports.DeferredLeft},
		"somebody rewrote it":           {func(i *ports.Issue) { i.Body = "Mine." }, false, nil, true, ports.DeferredLeft},
		"somebody wrote above its text": {func(i *ports.Issue) { i.Body = "Mine.\n" + i.Body }, true, nil, true, ports.DeferredLeft},
	} {
		w := newWorld("one")
		w.done(t)
		test.people(&w.issues[0])
		below := strings.HasSuffix(w.issues[0].Body, "I see to it.")
		d := &w.deferred[0]
		d.Seen, d.Changed = 2, true
		if test.resolved {
			d.ResolvedIn = 9
		}
		if diff := cmp.Diff(test.calls, w.done(t)); diff != "" {
			t.Errorf("%s: calls (-want +got):\n%s", name, diff)
		}
		if w.issues[0].Open != test.open || d.State != test.state || d.Changed {
			t.Errorf("%s: open %t, %+v", name, w.issues[0].Open, d)
		}
		if below && !strings.HasSuffix(w.issues[0].Body, "I see to it.") {
			t.Errorf("%s: people's text is gone: %q", name, w.issues[0].Body)
		}
	}
}

// An issue that was closed as resolved is reopened if the same warning is merged again.
func TestResolvedIssueIsOpenedAgain(t *testing.T) {
	w := newWorld("one")
	w.done(t)
	for _, resolvedIn := range []int{9, 0} {
		w.deferred[0].ResolvedIn, w.deferred[0].Changed = resolvedIn, true
		w.done(t)
		if open := resolvedIn == 0; w.issues[0].Open != open || (w.deferred[0].State == ports.DeferredOpen) != open {
			t.Errorf("resolved in %d: %+v, %+v", resolvedIn, w.issues[0], w.deferred[0])
		}
	}
}

// The kind of refusal shows whether GitHub rejects this issue or all issues in the
// repository.
func TestGitHubRefusesIssues(t *testing.T) {
	const open, waiting, left, intended = ports.DeferredOpen, ports.DeferredWaiting, ports.DeferredLeft, ports.DeferredIntended
	for name, test := range map[string]struct {
		kind    ports.HostKind
		want    []ports.DeferredState
		refused int
		again   bool
	}{
		"this one is invalid":          {ports.HostInvalid, []ports.DeferredState{left, open}, 0, false},
		"the repository takes no more": {ports.HostForbidden, []ports.DeferredState{waiting, waiting}, 1, false},
		"GitHub is down":               {ports.HostTransient, []ports.DeferredState{intended, waiting}, 0, true},
	} {
		w := newWorld("one", "two")
		w.refuses["create one"] = test.kind
		if err := w.work(t); err != nil && retry.Temporary(err) != test.again || (err != nil) != test.again {
			t.Errorf("%s: error %v", name, err)
		}
		if diff := cmp.Diff(test.want, w.states()); diff != "" || w.refused != test.refused {
			t.Errorf("%s: refused %d times, states (-want +got):\n%s", name, w.refused, diff)
		}
	}
}

func TestNoIssueIsWrittenWithoutTheLease(t *testing.T) {
	w := newWorld("one")
	w.lost = true
	if err := w.work(t); !errors.Is(err, ports.ErrLeaseLost) || len(w.calls) > 0 {
		t.Errorf("to open: calls %v, error %v", w.calls, err)
	}
	w = newWorld("one")
	w.done(t)
	w.calls, w.lost, w.deferred[0].Seen, w.deferred[0].Changed = nil, true, 2, true
	if err := w.work(t); !errors.Is(err, ports.ErrLeaseLost) || len(w.calls) > 0 {
		t.Errorf("to update: calls %v, error %v", w.calls, err)
	}
}

func TestSettingsDecideWhichIssuesAreWritten(t *testing.T) {
	for own, written := range map[string]bool{
		`{"issues": {"tech_debt": true}}`: true,
		`{"issues": {"gaps": true}}`:      false,
		`{}`:                              false,
		`{"mode": "advisory", "issues": {"tech_debt": true}}`: false,
		`{"mode": "off", "issues": {"tech_debt": true}}`:      false,
	} {
		w := newWorld("one")
		w.settings = own
		if calls := w.done(t); (len(calls) == 1) != written {
			t.Errorf("%s: calls %v", own, calls)
		}
	}
}
