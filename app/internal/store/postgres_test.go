package store_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/reviewgate/reviewgate/app/internal/store"
	"github.com/reviewgate/reviewgate/app/internal/store/pgtest"
	"github.com/reviewgate/reviewgate/app/internal/store/storetest"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

func TestPostgreSQL(t *testing.T) {
	t.Parallel()
	storetest.Run(t, false, func(t *testing.T) *store.Store { return onPostgreSQL.take(t)[0] })
}

// preparedURL returns the URL of a new database that has the tables already. It is a
// copy, which is faster than to create the tables.
func preparedURL(t testing.TB) string {
	t.Helper()
	return pgtest.CopyURL(t, store.Prepare)
}

// openTwo opens two stores on one database, as two processes do.
func openTwo(t *testing.T) [2]*store.Store {
	t.Helper()
	return [2]*store.Store(onPostgreSQL.take(t))
}

// atOnce calls f for each store at the same time.
func atOnce(stores [2]*store.Store, f func(i int, s *store.Store)) {
	var wg sync.WaitGroup
	for i, s := range stores {
		wg.Go(func() { f(i, s) })
	}
	wg.Wait()
}

func pull(number int, head string) ports.Target {
	return ports.Target{Kind: ports.TargetPull, RepoID: 1, Owner: "acme", Name: "shop", Number: number, HeadSHA: head}
}

func push(guid string, g ports.Target) ports.Delivery {
	return ports.Delivery{GUID: guid, Event: "pull_request", Asks: []ports.Ask{ports.ReviewAsk{Target: g, Reason: "pushed"}}}
}

func mustAccept(t *testing.T, s *store.Store, d ports.Delivery) ports.Accepted {
	t.Helper()
	a, err := s.Accept(context.Background(), d)
	if err != nil {
		t.Errorf("Accept(%s): %v", d.GUID, err)
	}
	return a
}

func state(t *testing.T, s *store.Store, key string) ports.TargetState {
	t.Helper()
	st, err := s.Target(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

func TestReplicasCountAGUIDOnce(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	both := openTwo(t)
	var first atomic.Int64
	const rounds = 30
	for i := range rounds {
		atOnce(both, func(_ int, s *store.Store) {
			if !mustAccept(t, s, push(fmt.Sprint(i), pull(i%3, "aaa"))).Duplicate {
				first.Add(1)
			}
		})
	}
	if first.Load() != rounds {
		t.Errorf("%d of %d deliveries were no duplicates", first.Load(), rounds)
	}
	for n := range 3 {
		if st := state(t, both[0], pull(n, "").Key()); st.Wanted != rounds/3 {
			t.Errorf("pull request %d: wanted = %d, want %d", n, st.Wanted, rounds/3)
		}
	}
}

func TestReplicasCountARedeliveryOnce(t *testing.T) {
	t.Parallel()
	both := openTwo(t)
	g := pull(1, "aaa")
	guids := []string{"one", "two"}
	for _, id := range guids {
		mustAccept(t, both[0], push(id, g))
	}
	for round := range 20 {
		l, ok, err := both[0].Acquire(t.Context(), g.Key(), "worker", time.Minute)
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		wanted := state(t, both[0], g.Key()).Wanted
		if _, err := both[0].Finish(t.Context(), l, wanted, true); err != nil {
			t.Fatal(err)
		}
		var counted atomic.Int64
		atOnce(both, func(i int, s *store.Store) { // one delivery twice, or two deliveries of one target
			if !mustAccept(t, s, push(guids[i*(round%2)], g)).Duplicate {
				counted.Add(1)
			}
		})
		if counted.Load() != 1 {
			t.Fatalf("round %d: %d redeliveries of what was given up counted, want 1", round, counted.Load())
		}
	}
}

// Two pull requests leave their shared head at the same time. Each locks its own row and
// then needs the lock of the other's.
func TestReplicasMoveHeadsAtOnce(t *testing.T) {
	t.Parallel()
	both := openTwo(t)
	for round := range 10 {
		shared := fmt.Sprint("shared-", round)
		for n := 1; n <= 3; n++ {
			mustAccept(t, both[0], push(fmt.Sprint("join-", round, n), pull(n, shared)))
		}
		before := state(t, both[0], pull(3, "").Key()).Wanted
		atOnce(both, func(i int, s *store.Store) {
			a := mustAccept(t, s, push(fmt.Sprint("leave-", round, i), pull(i+1, fmt.Sprint("own-", round, i))))
			if !a.HeadMoved {
				t.Errorf("round %d: pull request %d did not move", round, i+1)
			}
		})
		for i := range 2 {
			if st := state(t, both[0], pull(i+1, "").Key()); st.HeadSHA != fmt.Sprint("own-", round, i) {
				t.Fatalf("round %d: pull request %d has the head %s", round, i+1, st.HeadSHA)
			}
		}
		if got := state(t, both[0], pull(3, "").Key()).Wanted; got != before+2 {
			t.Errorf("round %d: who stayed was asked %d times, want 2", round, got-before)
		}
	}
}

// The first two asks for a pull request come at once. The second sees the first. If the
// pull request leaves a head, the second asks for reviews of the others on it.
func TestReplicasMeetANewPullRequestAtOnce(t *testing.T) {
	t.Parallel()
	both := openTwo(t)
	left := 0
	for n := 1; n <= 40; n++ {
		old, other := fmt.Sprint("old-", n), pull(1000+n, fmt.Sprint("old-", n))
		mustAccept(t, both[0], push(fmt.Sprint("other-", n), other))
		atOnce(both, func(i int, s *store.Store) {
			mustAccept(t, s, push(fmt.Sprint(n, "-", i), pull(n, []string{old, fmt.Sprint("new-", n)}[i])))
		})
		st := state(t, both[0], pull(n, "").Key())
		want := int64(1)
		if st.HeadSHA != old {
			want, left = 2, left+1
		}
		if got := state(t, both[0], other.Key()).Wanted; st.Wanted != 2 || got != want {
			t.Errorf("pull request %d on %s: wanted %d, and %d of the other one; want 2 and %d", n, st.HeadSHA, st.Wanted, got, want)
		}
	}
	t.Logf("%d of 40 came in the order in which a head is left", left)
}

// Two processes share the work. Each target has one run at a time, and no ask is lost,
// even if it comes between Finish and the end of the job.
func TestReplicasShareTheWork(t *testing.T) {
	t.Parallel()
	both := openTwo(t)
	const targets = 6
	asks := sample.Size(20, 40)
	atWork := map[string]*atomic.Bool{}
	for n := 1; n <= targets; n++ {
		atWork[pull(n, "").Key()] = new(atomic.Bool)
	}
	var runs [2]atomic.Int64
	for i, s := range both {
		startQueue(t, s, leaseWorker{s, func(key string) {
			runs[i].Add(1)
			if !atWork[key].CompareAndSwap(false, true) {
				t.Errorf("two runs at work on %s", key)
			}
			time.Sleep(2 * time.Millisecond)
			atWork[key].Store(false)
		}})
	}
	var wg sync.WaitGroup
	for n := 1; n <= targets; n++ {
		wg.Go(func() {
			for i := range asks {
				mustAccept(t, both[(n+i)%2], push(fmt.Sprint(n, "-", i), pull(n, fmt.Sprint(n))))
			}
		})
	}
	wg.Wait()
	for n := 1; n <= targets; n++ {
		waitFor(t, "all generations done", func() bool {
			st := state(t, both[0], pull(n, "").Key())
			return st.Wanted == int64(asks) && st.Done == int64(asks)
		})
	}
	t.Logf("%d and %d jobs", runs[0].Load(), runs[1].Load())
	if runs[0].Load() == 0 || runs[1].Load() == 0 {
		t.Error("one of the two did nothing")
	}
}

// The tokens that one process takes from a budget count for the other at once.
func TestReplicasShareABudget(t *testing.T) {
	t.Parallel()
	both := openTwo(t)
	const asks, budget = 30, 10
	for n := 1; n <= asks; n++ {
		mustAccept(t, both[0], push(fmt.Sprint("budget-", n), pull(n, fmt.Sprint(n))))
	}
	var taken atomic.Int64
	atOnce(both, func(i int, s *store.Store) {
		var wg sync.WaitGroup
		for n := 1; n <= asks; n++ {
			wg.Go(func() {
				_, over, err := s.TakeTokens(t.Context(), ports.TokenAsk{Target: pull(n, ""), Agent: "a", Model: "m", Tokens: 1, PerPull: 1, PerRepositoryDay: budget})
				if err != nil {
					t.Error(err)
				} else if over == "" {
					taken.Add(1)
				}
			})
		}
		wg.Wait()
	})
	if n := taken.Load(); n != budget {
		t.Errorf("%d of %d tokens were taken", n, budget)
	}
}

func startQueue(t *testing.T, s *store.Store, w ports.Worker) {
	t.Helper()
	startQueueWith(t, s, w, store.QueueOptions{})
}

func startQueueWith(t *testing.T, s *store.Store, w ports.Worker, opts store.QueueOptions) {
	t.Helper()
	q, err := store.NewQueue(s, w, opts)
	if err != nil {
		t.Fatal(err)
	}
	if err := q.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := q.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

func waitFor(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("still not so after 20 s: %s", what)
		}
	}
}

func TestReplicasInsertOneSweep(t *testing.T) {
	t.Parallel()
	both := openTwo(t)
	for range 10 {
		atOnce(both, func(_ int, s *store.Store) {
			if err := s.AskSweep(t.Context(), ports.Sweep{Installation: 5}); err != nil {
				t.Error(err)
			}
		})
	}
	q, err := store.NewQueue(both[0], nil, store.QueueOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if d, err := q.Depth(t.Context()); err != nil || d.Available != 1 {
		t.Errorf("depth = %+v, %v; want one job", d, err)
	}
}

func TestReplicasStartTogether(t *testing.T) {
	url := pgtest.URL(t)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			s, err := store.Open(context.Background(), url, store.Options{})
			if err != nil {
				t.Error(err)
				return
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

// admin runs statements on a database.
func admin(t *testing.T, url string, statements ...string) {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	for _, q := range statements {
		if _, err := conn.Exec(context.Background(), q); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
}

func TestOpenPostgreSQLSaysWhatIsWrong(t *testing.T) {
	t.Parallel() // a role that may not create tables is retried for 3 s
	good := pgtest.URL(t)
	admin(t, good, "CREATE ROLE guest LOGIN PASSWORD 'sesame'")
	t.Cleanup(func() { admin(t, good, "DROP ROLE guest") })
	newer := preparedURL(t)
	admin(t, newer, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (999, true)")
	u := func(change func(*url.URL)) string {
		v, err := url.Parse(good)
		if err != nil {
			t.Fatal(err)
		}
		change(v)
		return v.String()
	}
	for _, tt := range []struct {
		name, url string
		want      []string
	}{
		{"not a URL", "postgres://me:sec%zzret@127.0.0.1/db", []string{"can't be parsed", "postgres://USER:PASSWORD@HOST"}},
		{"an invalid port", "postgres://me:secret@127.0.0.1:port/db", []string{"can't be parsed"}},
		{"a password with a slash", "postgres://me:sec/ret@127.0.0.1/db", []string{"can't be parsed"}},
		{"nothing listens", "postgresql://me:secret@127.0.0.1:1/db", []string{"db on 127.0.0.1:1", "nothing listens there"}},
		{"wrong password", u(func(v *url.URL) { v.User = url.UserPassword("guest", "secret") }), []string{"password of user guest is wrong"}},
		{"no such database", u(func(v *url.URL) { v.Path = "/nowhere" }), []string{"nowhere on 127.0.0.1", "CREATE DATABASE nowhere"}},
		{"no rights", u(func(v *url.URL) { v.User = url.UserPassword("guest", "sesame") }), []string{"user guest may not create tables", "GRANT CREATE"}},
		{"newer tables", newer, []string{"version 999", "run the newer reviewgate"}},
		{"an odd parameter", u(func(v *url.URL) { v.RawQuery = "pool_max_conns=many" }), []string{"can't be parsed"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := store.Open(t.Context(), tt.url, store.Options{})
			if err == nil {
				t.Fatal("opened", s.Close())
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not say %q", err, want)
				}
			}
			password := "secret"
			if v, err := url.Parse(tt.url); err == nil {
				password, _ = v.User.Password()
			}
			for _, part := range []string{password, "secret", "sec%zz", "sec/"} {
				if strings.Contains(err.Error(), part) {
					t.Errorf("error %q tells the password", err)
				}
			}
		})
	}
}

func TestClosedPostgreSQLStoresNothing(t *testing.T) {
	s, err := store.Open(t.Context(), preparedURL(t), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Accept(t.Context(), ports.Delivery{GUID: "late"}); !errors.Is(err, store.ErrClosed) {
		t.Errorf("Accept after Close: %v, want ErrClosed", err)
	}
}
