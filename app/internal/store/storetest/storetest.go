// Package storetest is the conformance suite of package store. Every database that the
// store supports must pass it. It uses only the store's exported methods, never a table.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/internal/store"
	"github.com/reviewgate/reviewgate/app/ports"
)

// Open opens an empty database for a test. No other test sees the data.
type Open func(t *testing.T) *store.Store

// Run runs the suite, with several tests at a time. lone says that only one process at a
// time may have the database. At its start that process takes over all unfinished work.
func Run(t *testing.T, lone bool, open Open) {
	for _, group := range []struct {
		name  string
		tests map[string]func(*testing.T, *fixture)
	}{
		{"Accept", acceptTests},
		{"Target", targetTests},
		{"Scans", scanTests},
		{"Tokens", tokenTests},
		{"Lease", leaseTests},
		{"Shares", shareTests},
		{"Review", reviewTests},
		{"Write", writeTests},
		{"Inline", inlineTests},
		{"Command", commandTests},
		{"ByHand", byHandTests},
		{"Notice", noticeTests},
		{"Rerun", rerunTests},
		{"Deferred", deferredTests},
		{"Config", configTests},
		{"Sweep", sweepTests},
		{"HandOver", handOverTests},
		{"Rescue", rescueTests},
		{"Queue", queueTests},
		{"Periodic", periodicTests},
		{"ConfigNews", configNewsTests},
		{"Forget", forgetTests},
		{"Prune", pruneTests},
		{"FixLoop", fixLoopTests},
		{"Backtest", backtestTests},
		{"Learning", learningTests},
		{"Probation", probationTests},
		{"Memory", memoryTests},
		{"Session", sessionTests},
		{"SessionRequest", sessionRequestTests},
		{"APIToken", apiTokenTests},
	} {
		t.Run(group.name, func(t *testing.T) {
			t.Parallel()
			for name, test := range group.tests {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					test(t, newFixture(t, lone, open(t)))
				})
			}
		})
	}
}

// fixture is a store whose clock moves only when the test says so.
type fixture struct {
	*store.Store
	lone  bool
	clock *clock
	ctx   context.Context
}

// with returns the tests of a group that has a fixture of its own.
func with[F any](own func(*fixture) F, tests map[string]func(*testing.T, F)) map[string]func(*testing.T, *fixture) {
	out := map[string]func(*testing.T, *fixture){}
	for name, test := range tests {
		out[name] = func(t *testing.T, f *fixture) { test(t, own(f)) }
	}
	return out
}

func newFixture(t *testing.T, lone bool, s *store.Store) *fixture {
	c := &clock{now: time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)}
	own := s.Now
	s.Now = c.Now
	t.Cleanup(func() { s.Now = own }) // the next test may need the real time
	return &fixture{Store: s, lone: lone, clock: c, ctx: t.Context()}
}

type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

const repoID = 77

func pull(number int, head string) ports.Target {
	return ports.Target{Kind: ports.TargetPull, Installation: 5, RepoID: repoID, Owner: "acme", Name: "shop", Number: number, HeadSHA: head}
}

func group(head string) ports.Target {
	return ports.Target{Kind: ports.TargetGroup, Installation: 5, RepoID: repoID, Owner: "acme", Name: "shop", HeadSHA: head, BaseSHA: "base", HeadRef: "refs/heads/gh-readonly-queue/main/pr-1-" + head}
}

// push is the delivery of a pull_request event that asks for a review.
func push(guid string, g ports.Target) ports.Delivery {
	return asking(guid, ports.ReviewAsk{Target: g, Reason: "pushed"})
}

// asking returns a delivery with the asks.
func asking(guid string, asks ...ports.Ask) ports.Delivery {
	return ports.Delivery{GUID: guid, Event: "pull_request", Action: "synchronize", Installation: 5, RepoID: repoID, Asks: asks}
}

func comment(guid string, id int64, g ports.Target) ports.Delivery {
	return asking(guid, command(id, g))
}

func command(id int64, g ports.Target) ports.Command {
	return ports.Command{Place: ports.PlaceConversation, CommentID: id, Target: g, Sender: "ann", SenderID: 3, Author: "bob", AuthorID: 4, Name: "review"}
}

// obey finishes a command on the ask's target, with the ask for a review.
func (f *fixture) obey(commentID int64, ask ports.ReviewAsk) error {
	return f.Obey(f.ctx, ports.Command{Place: ports.PlaceConversation, CommentID: commentID, Target: ask.Target}, ports.Effect{}, &ask)
}

func (f *fixture) accept(t *testing.T, d ports.Delivery) ports.Accepted {
	t.Helper()
	a, err := f.Accept(f.ctx, d)
	if err != nil {
		t.Fatalf("Accept(%s): %v", d.GUID, err)
	}
	return a
}

func (f *fixture) state(t *testing.T, key string) ports.TargetState {
	t.Helper()
	st, err := f.Target(f.ctx, key)
	if err != nil {
		t.Fatalf("Target(%s): %v", key, err)
	}
	return st
}

func (f *fixture) acquire(t *testing.T, key string) ports.Lease {
	t.Helper()
	l, ok, err := f.Acquire(f.ctx, key, "process-1", time.Minute)
	if err != nil || !ok {
		t.Fatalf("Acquire(%s) = %v, %v; want the lease", key, ok, err)
	}
	return l
}

// jobs returns the number of jobs that are due.
func (f *fixture) jobs(t *testing.T) int {
	t.Helper()
	q, err := store.NewQueue(f.Store, nil, store.QueueOptions{})
	if err != nil {
		t.Fatal(err)
	}
	d, err := q.Depth(f.ctx)
	if err != nil {
		t.Fatal(err)
	}
	return d.Available
}

func (f *fixture) wantJobs(t *testing.T, want int, when string) {
	t.Helper()
	if got := f.jobs(t); got != want {
		t.Errorf("%s: %d jobs are due, want %d", when, got, want)
	}
}

// workerFunc is a ports.Worker.
type workerFunc func(context.Context, ports.Job) error

func (w workerFunc) Work(ctx context.Context, j ports.Job) error { return w(ctx, j) }

// args returns the arguments of a job.
func args[A any](t *testing.T, j ports.Job) A {
	t.Helper()
	args, err := ports.ArgsOf[A](j)
	if err != nil {
		t.Error(err)
	}
	return args
}

// keyOf returns the key of the job's target.
func keyOf(j ports.Job) string {
	args, _ := ports.ArgsOf[ports.TargetJob](j)
	return args.Key
}

// work starts a queue and stops it when the test ends.
func (f *fixture) work(t *testing.T, w workerFunc) {
	t.Helper()
	f.workWith(t, store.QueueOptions{RescueInterval: 50 * time.Millisecond}, w)
}

func (f *fixture) workWith(t *testing.T, opts store.QueueOptions, w workerFunc) {
	t.Helper()
	q, err := store.NewQueue(f.Store, w, opts)
	if err != nil {
		t.Fatal(err)
	}
	if err := q.Start(f.ctx); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := q.Stop(ctx); err != nil {
			t.Errorf("stop the queue: %v", err)
		}
	})
}

// finishTargets returns a worker that treats a target as the use cases do: it takes the
// lease, does all that is wanted, and finishes.
func finishTargets(s *store.Store, did func(ports.TargetState)) workerFunc {
	return func(ctx context.Context, j ports.Job) error {
		l, ok, err := s.Acquire(ctx, keyOf(j), "worker", time.Minute)
		if err != nil {
			return &ports.RetryError{After: time.Second, Err: err}
		}
		if !ok {
			return nil
		}
		for more := true; more; {
			st, err := s.Target(ctx, keyOf(j))
			if err != nil {
				return err
			}
			if st.Wanted > st.Done {
				did(st)
			}
			if more, err = s.Finish(ctx, l, st.Wanted, false); err != nil {
				return err
			}
		}
		return nil
	}
}

// eventually waits for something that other goroutines do. The limit only
// ends a test that has failed.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !done(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("still not so after 20 s: %s", what)
		}
	}
}

// receive waits for something that another goroutine sends.
func receive[T any](t *testing.T, what string, ch <-chan T) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(20 * time.Second):
		t.Fatalf("still not so after 20 s: %s", what)
	}
	var none T
	return none
}

func wantErr(t *testing.T, what string, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Errorf("%s: error %v, want %v", what, got, want)
	}
}

func guid(i int) string { return fmt.Sprintf("guid-%04d", i) }
