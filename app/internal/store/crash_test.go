package store_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app/internal/store"
	"github.com/reviewgate/reviewgate/app/review"
)

// childEnv names the directory of the database to a copy of the test binary
// that accepts and works deliveries until it is killed.
const childEnv = "REVIEWGATE_STORE_TEST_CHILD"

const childPulls = 20

func childDelivery(guid string, i int) review.Delivery {
	g := review.Target{Kind: review.TargetPull, RepoID: 1, Owner: "acme", Name: "shop", Number: i%childPulls + 1, HeadSHA: fmt.Sprint("head-", i)}
	return review.Delivery{GUID: guid, Event: "pull_request", Review: &review.ReviewAsk{Target: g, Reason: "pushed"}}
}

// leaseWorker works targets under leases that outlive the test unless somebody
// frees them.
type leaseWorker struct {
	*store.Store
	took time.Duration
}

func (w leaseWorker) Work(ctx context.Context, j review.Job) error {
	l, ok, err := w.Acquire(ctx, j.Key, "worker", time.Hour)
	if err != nil || !ok {
		return err
	}
	for more := true; more; {
		st, err := w.Target(ctx, j.Key)
		if err != nil {
			return err
		}
		time.Sleep(w.took)
		if more, err = w.Finish(ctx, l, st.Wanted, false); err != nil {
			return err
		}
	}
	return nil
}

// child prints the GUID of each delivery once it is acknowledged. It never
// returns.
func child(dir string) {
	fail := func(err error) {
		fmt.Fprintln(os.Stderr, "child:", err)
		os.Exit(1)
	}
	s, err := store.Open(context.Background(), "sqlite://"+filepath.Join(dir, "reviewgate.db"), zerolog.New(os.Stderr))
	if err != nil {
		fail(err)
	}
	q, err := store.NewQueue(s, leaseWorker{s, 5 * time.Millisecond}, store.QueueOptions{})
	if err != nil {
		fail(err)
	}
	if err := q.Start(context.Background()); err != nil {
		fail(err)
	}
	for n := range 4 {
		go func() {
			for i := n; ; i += 4 {
				guid := fmt.Sprintf("%d-%d", os.Getpid(), i)
				if _, err := s.Accept(context.Background(), childDelivery(guid, i)); err != nil {
					fail(err)
				}
				fmt.Println(guid)
			}
		}()
	}
	select {}
}

func TestKilledAtAnyMoment(t *testing.T) {
	dir := t.TempDir()
	var acknowledged []string
	for range 5 {
		acknowledged = append(acknowledged, runAndKill(t, dir)...)
	}
	t.Logf("%d deliveries acknowledged by 5 processes", len(acknowledged))

	s := openSQLite(t, filepath.Join(dir, "reviewgate.db"))
	left := unfinished(t, s)
	start := time.Now()
	q, err := store.NewQueue(s, leaseWorker{s, 0}, store.QueueOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := q.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := q.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	for unfinished(t, s) > 0 {
		if time.Since(start) > 10*time.Second {
			t.Fatalf("%d of %d targets are unfinished 10 s after the start", unfinished(t, s), left)
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Logf("%d targets that were left undone were done within %s", left, time.Since(start).Round(time.Millisecond))
	for i, guid := range acknowledged {
		a, err := s.Accept(t.Context(), childDelivery(guid, i))
		if err != nil {
			t.Fatal(err)
		}
		if !a.Duplicate {
			t.Errorf("delivery %s was acknowledged and is lost", guid)
		}
	}
}

// runAndKill starts a child, kills it in the middle of its work, and returns
// what it acknowledged.
func runAndKill(t *testing.T, dir string) (guids []string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+dir)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if guids = append(guids, lines.Text()); len(guids) == 1 {
			time.AfterFunc(time.Duration(50+rand.IntN(300))*time.Millisecond, func() { cmd.Process.Kill() }) // Wait says whether it worked
		}
	}
	if err := cmd.Wait(); len(guids) == 0 || !strings.Contains(fmt.Sprint(err), "killed") {
		t.Fatalf("child acknowledged %d deliveries and ended with %v:\n%s", len(guids), err, stderr.String())
	}
	return guids
}

func unfinished(t *testing.T, s *store.Store) (n int) {
	t.Helper()
	for i := range childPulls {
		st, err := s.Target(t.Context(), childDelivery("", i).Review.Target.Key())
		if errors.Is(err, review.ErrNotFound) {
			continue // none of its deliveries came through
		}
		if err != nil {
			t.Fatal(err)
		}
		if st.Wanted > st.Done {
			n++
		}
	}
	return n
}
