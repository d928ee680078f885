package recovery_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/inforce"
	"github.com/reviewgate/reviewgate/app/lease"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/publish"
	"github.com/reviewgate/reviewgate/app/recovery"
	"github.com/reviewgate/reviewgate/config"
)

var (
	now  = time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	pull = ports.OpenPull{Target: ports.Target{Kind: ports.TargetPull, RepoID: 2, Owner: "acme", Name: "shop", Number: 3, HeadSHA: "aaa"}, BaseRef: "main"}
)

// store knows which pull requests were answered, and records the asks.
type store struct {
	ports.Targets
	ports.Writes
	ports.History
	ports.Intake
	ports.Leases
	ports.Layers
	ports.Recovery
	ports.Marks
	state    *ports.TargetState // nil if the pull request is not known
	check    *ports.Write       // the newest of the head
	review   *ports.StoredReview
	settings string
	asks     []ports.ReviewAsk
	lost     []ports.LostDelivery
	next     map[string]time.Duration // waits until lost deliveries are looked for again
}

func (s *store) Target(context.Context, string) (ports.TargetState, error) {
	if s.state == nil {
		return ports.TargetState{}, ports.ErrNotFound
	}
	return *s.state, nil
}

func (s *store) NewestWrite(_ context.Context, kind ports.WriteKind, _ string) (*ports.Write, error) {
	if kind != ports.WriteCheck || s.check == nil {
		return nil, nil
	}
	w := *s.check
	return &w, nil
}

func (s *store) Intend(_ context.Context, _ ports.Lease, w ports.Write) (ports.Write, error) {
	w.State = ports.WriteIntended
	s.check = &w
	return w, nil
}

func (s *store) Record(_ context.Context, w ports.Write) error {
	s.check = &w
	return nil
}

func (s *store) LatestReview(context.Context, string) (*ports.StoredReview, error) {
	return s.review, nil
}

func (s *store) Ask(_ context.Context, ask ports.ReviewAsk) error {
	s.asks = append(s.asks, ask)
	return nil
}

func (*store) Acquire(_ context.Context, key, owner string, _ time.Duration) (ports.Lease, bool, error) {
	return ports.Lease{Key: key, Owner: owner}, true, nil
}

func (*store) Renew(context.Context, ports.Lease, time.Duration) error { return nil }
func (*store) Release(context.Context, ports.Lease) error              { return nil }

func (*store) RepositoryNames(context.Context, int64) ([]string, error) { return nil, nil }

func (s *store) GoodLayer(_ context.Context, _ int64, layer string) (*ports.GoodLayer, error) {
	if s.settings == "" || layer != config.LayerRepository {
		return nil, nil
	}
	return &ports.GoodLayer{Files: []ports.ConfigBlob{{Layer: layer, Path: config.FileSettings, Text: []byte(s.settings)}}}, nil
}

func (*store) Mark(context.Context, string) (time.Time, error)                 { return now, nil }
func (*store) ScanRepositories(context.Context) (map[int64]bool, error)        { return nil, nil }
func (*store) AddLostDeliveries(context.Context, ports.LogRead) (int64, error) { return 0, nil }
func (s *store) LostDeliveries(context.Context, time.Time, int) ([]ports.LostDelivery, error) {
	return s.lost, nil
}

func (s *store) LookedFor(_ context.Context, guid string, next time.Time) error {
	s.next[guid] = next.Sub(now)
	return nil
}

// github has check runs, and a log of deliveries.
type github struct {
	ports.CheckWriter
	ports.DeliveryLog
	runs       []ports.CheckRun
	payload    map[int64]error // by attempt
	redelivery error
	again      []int64 // attempts that were requested again
}

func (g *github) CreateCheck(context.Context, ports.Target, ports.CheckWrite) (int64, error) {
	return 1, nil
}

func (g *github) Checks(context.Context, ports.Target, string) ([]ports.CheckRun, error) {
	return g.runs, nil
}

func (*github) FailedDeliveries(context.Context, time.Time) ([]ports.HookAttempt, bool, error) {
	return nil, true, nil
}

func (g *github) Payload(_ context.Context, id int64) ([]byte, error) { return nil, g.payload[id] }

func (g *github) Redeliver(_ context.Context, id int64) error {
	g.again = append(g.again, id)
	return g.redelivery
}

func finder(s *store, g *github) *recovery.Finder {
	s.next = map[string]time.Duration{}
	configs := &inforce.Configs{Layers: s, Loader: config.NewLoader(1)}
	return &recovery.Finder{
		Configs: configs, Targets: s, Writes: s, History: s, Intake: s, Recovery: s, Marks: s, CheckWriter: g, DeliveryLog: g,
		Now: func() time.Time { return now },
	}
}

// known is the pull request in the store: answered, unless the test changes it.
func known(change func(*ports.TargetState)) *ports.TargetState {
	s := ports.TargetState{Target: pull.Target, Wanted: 2, Done: 2}
	change(&s)
	return &s
}

// The sweep asks for a review of an open pull request, unless its current state has an answer
// or a review is on its way.
func TestPullRequestsWithoutAnAnswer(t *testing.T) {
	as := func(*ports.TargetState) {}
	answer := func(head, base string) *ports.StoredReview {
		r := &ports.StoredReview{HeadSHA: head}
		r.Review.Facts.Base.Ref = base
		return r
	}
	run := func(conclusion string) []ports.CheckRun {
		return []ports.CheckRun{{Completed: conclusion != "", Conclusion: conclusion}, {Completed: true, Conclusion: "success"}}
	}
	for name, test := range map[string]struct {
		state    *ports.TargetState
		check    string // conclusion of the head's check, as far as the store knows; "open" if it has none
		review   *ports.StoredReview
		runs     []ports.CheckRun // on GitHub
		settings string
		shared   bool // other pull requests have the head
		asked    bool
	}{
		"it was answered":                   {state: known(as), check: "success", review: answer("aaa", "main")},
		"it was never reviewed":             {state: known(as), check: "success", asked: true},
		"another head was answered":         {state: known(as), check: "success", review: answer("bbb", "main"), asked: true},
		"another base was answered":         {state: known(as), check: "success", review: answer("aaa", "next"), asked: true},
		"its check was cancelled":           {state: known(as), check: "cancelled", review: answer("aaa", "main"), asked: true},
		"its check is open":                 {state: known(as), check: "open", review: answer("aaa", "main"), asked: true},
		"it has no check":                   {state: known(as), review: answer("aaa", "main"), asked: true},
		"reviews are switched off":          {state: known(as), settings: `{"mode": "off"}`},
		"a review is on its way":            {state: known(func(s *ports.TargetState) { s.Wanted++ })},
		"it was closed, and is open":        {state: known(func(s *ports.TargetState) { s.Closed = true }), check: "success", review: answer("aaa", "main"), asked: true},
		"it was closed in between":          {state: known(func(s *ports.TargetState) { s.Closed, s.Wanted = true, 3 }), check: "success", review: answer("aaa", "main"), asked: true},
		"it was given up":                   {state: known(func(s *ports.TargetState) { s.GaveUp = true }), check: "failure"},
		"it was given up, and has no check": {state: known(func(s *ports.TargetState) { s.GaveUp = true }), asked: true},
		"the App was refused":               {state: known(func(s *ports.TargetState) { s.GaveUp, s.Result = true, "the App is suspended" })},
		"it waits for others' checks": {state: known(func(s *ports.TargetState) {
			s.Scans = ports.ScansRead{Agents: []ports.ScanReader{{ID: "code-scanning", Waiting: []string{"build"}}}}
		}), check: "success", review: answer("aaa", "main"), asked: true},

		"an unknown head":                                 {state: known(func(s *ports.TargetState) { s.HeadSHA = "bbb" }), asked: true},
		"a head that is not known, and answered":          {state: known(func(s *ports.TargetState) { s.HeadSHA = "bbb" }), runs: run("success")},
		"another pull request's check on an unknown head": {state: known(func(s *ports.TargetState) { s.HeadSHA = "bbb" }), check: "success", runs: run("success"), asked: true},

		"a lost store":                                 {asked: true},
		"a lost store, and it was answered":            {runs: run("failure")},
		"a lost store, and others have its head":       {runs: run("success"), shared: true, asked: true},
		"a lost store, and its check is open":          {runs: run(""), asked: true},
		"a lost store, and its check was cancelled":    {runs: run("cancelled"), asked: true},
		"a lost store, and its check has become stale": {runs: run("stale"), asked: true},
	} {
		for _, dry := range []bool{true, false} {
			s := &store{state: test.state, review: test.review, settings: test.settings}
			f := finder(s, &github{runs: test.runs})
			checkOf(t, f, s, test.check)
			asked, err := f.Backfill(t.Context(), pull, test.shared, dry)
			if err != nil || asked != test.asked {
				t.Errorf("%s: asked %t, error %v", name, asked, err)
			}
			if (len(s.asks) == 1) != (test.asked && !dry) {
				t.Errorf("%s, dry %t: asks %+v", name, dry, s.asks)
			}
			if len(s.asks) == 1 && test.state != nil && *s.asks[0].Asked != test.state.Wanted {
				t.Errorf("%s: the ask is for generation %d", name, *s.asks[0].Asked)
			}
		}
	}
}

// checkOf gives the head a check with a conclusion.
func checkOf(t *testing.T, f *recovery.Finder, s *store, conclusion string) {
	t.Helper()
	if conclusion == "" {
		return
	}
	k := publish.Checks{
		Configs: f.Configs, Followed: &publish.FollowedHeads{}, Writes: s, History: s, CheckWriter: f.CheckWriter, Now: f.Now,
		Leases: lease.Keeper{Store: s, Owner: "us", TTL: time.Minute},
	}
	var err error
	if conclusion == "open" {
		err = k.Open(t.Context(), ports.Lease{Key: pull.Key()}, ports.TargetState{Target: pull.Target, Done: 1}, pull.HeadSHA)
	} else {
		err = k.Complete(t.Context(), ports.Lease{Key: pull.Key()}, pull.Target, ports.CheckWrite{HeadSHA: pull.HeadSHA, Conclusion: conclusion})
	}
	if err != nil {
		t.Fatal(err)
	}
}

func trouble(kind ports.HostKind) error {
	return &ports.HostError{Op: "read the log", Kind: kind, Err: errors.New("trouble")}
}

// A lost delivery is read or requested again, and looked for later once more. The longer it
// is missing, the longer the wait.
func TestLookingForALostDelivery(t *testing.T) {
	const first, later, never = time.Minute, 4 * time.Minute, 3 * 24 * time.Hour
	for name, test := range map[string]struct {
		looks      int
		payload    error // of reading what it delivered
		takeIn     error
		redelivery error
		next       time.Duration
		redeliver  bool
		found      bool
	}{
		"it is accepted":                  {next: first, found: true},
		"it is accepted after some looks": {looks: 3, next: later, found: true},
		"the webhook refuses it":          {takeIn: fmt.Errorf("take in: %w", ports.ErrRefused), next: never},
		"it can't be stored":              {takeIn: errors.New("connection reset"), next: first},
		"the log holds no payload":        {payload: ports.ErrNoPayload, next: first, redeliver: true, found: true},
		"the log holds no payload, and GitHub won't send it again": {payload: ports.ErrNoPayload, redelivery: trouble(ports.HostInvalid), next: first, redeliver: true},
		"GitHub is down for a redelivery":                          {payload: ports.ErrNoPayload, redelivery: trouble(ports.HostTransient), looks: 3, next: later, redeliver: true},
		"the log no longer has it":                                 {payload: trouble(ports.HostNotFound), looks: 3, next: later},
		"GitHub can't show it for the moment":                      {payload: trouble(ports.HostTransient), looks: 3, next: later},
	} {
		t.Run(name, func(t *testing.T) {
			s := &store{lost: []ports.LostDelivery{{HookAttempt: ports.HookAttempt{ID: 7, GUID: "guid"}, Looks: test.looks}}}
			g := &github{payload: map[int64]error{7: test.payload}, redelivery: test.redelivery}
			f := finder(s, g)
			f.TakeIn = func(context.Context, ports.HookAttempt, []byte) error { return test.takeIn }
			found := false
			f.Observe = func(string) { found = true }
			if err := f.FindDeliveries(t.Context()); err != nil {
				t.Fatal(err)
			}
			if next, looked := s.next["guid"]; !looked || next != test.next {
				t.Errorf("it is looked for again after %s, want %s", next, test.next)
			}
			if redeliver := len(g.again) == 1; redeliver != test.redeliver || found != test.found {
				t.Errorf("requested again %v, found %t", g.again, found)
			}
		})
	}
}

// A delivery that GitHub can't show does not stop the others. Three in a row mean that
// GitHub is down, and a rate limit ends the look at once.
func TestLookEndsWhereGitHubIsDown(t *testing.T) {
	const down, limited = ports.HostTransient, ports.HostLimited
	for name, test := range map[string]struct {
		trouble []ports.HostKind // of each delivery
		looked  int
		fails   bool
	}{
		"no trouble":                  {[]ports.HostKind{"", "", ""}, 3, false},
		"two fail":                    {[]ports.HostKind{down, down, "", down, down, ""}, 6, false},
		"three fail":                  {[]ports.HostKind{"", down, down, down, ""}, 3, true},
		"GitHub limits calls":         {[]ports.HostKind{"", limited, ""}, 1, true},
		"some are not there any more": {[]ports.HostKind{ports.HostNotFound, ports.HostNotFound, ports.HostNotFound, ""}, 4, false},
	} {
		s, g := &store{}, &github{payload: map[int64]error{}}
		for i, kind := range test.trouble {
			s.lost = append(s.lost, ports.LostDelivery{HookAttempt: ports.HookAttempt{ID: int64(i), GUID: fmt.Sprint(i)}})
			if kind != "" {
				g.payload[int64(i)] = trouble(kind)
			}
		}
		f := finder(s, g)
		f.TakeIn = func(context.Context, ports.HookAttempt, []byte) error { return nil }
		if err := f.FindDeliveries(t.Context()); (err != nil) != test.fails {
			t.Errorf("%s: error %v", name, err)
		}
		if len(s.next) != test.looked {
			t.Errorf("%s: %d deliveries were looked for, want %d", name, len(s.next), test.looked)
		}
	}
}

func TestLookEndsWhereRedeliveriesAreLimited(t *testing.T) {
	s := &store{lost: []ports.LostDelivery{{HookAttempt: ports.HookAttempt{ID: 1, GUID: "one"}}, {HookAttempt: ports.HookAttempt{ID: 2, GUID: "two"}}}}
	g := &github{payload: map[int64]error{1: ports.ErrNoPayload, 2: ports.ErrNoPayload}, redelivery: trouble(ports.HostLimited)}
	if err := finder(s, g).FindDeliveries(t.Context()); err == nil || len(g.again) != 1 || len(s.next) > 0 {
		t.Errorf("requested again %v, looked for %v, error %v", g.again, s.next, err)
	}
}
