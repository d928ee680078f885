package store_test

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app/internal/store"
	"github.com/reviewgate/reviewgate/app/internal/store/pgtest"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// childEnv passes the URL of a database to a copy of the test binary, which accepts
// deliveries and does their jobs until it is killed.
const childEnv = "REVIEWGATE_STORE_TEST_CHILD"

const childPulls = 20

func childTarget(i int) ports.Target {
	return ports.Target{Kind: ports.TargetPull, RepoID: 1, Owner: "acme", Name: "shop", Number: i%childPulls + 1, HeadSHA: fmt.Sprint("head-", i)}
}

// leaseWorker reviews and publishes under leases that last longer than the test, unless
// they are freed.
type leaseWorker struct {
	*store.Store
	work func(key string) // while the lease is held
}

func (w leaseWorker) Work(ctx context.Context, j ports.Job) error {
	l, ok, err := w.Acquire(ctx, store.KeyOf(j), w.Process(), time.Hour)
	if err != nil || !ok {
		return err
	}
	w.work(store.KeyOf(j))
	r, err := w.UnpublishedReview(ctx, store.KeyOf(j))
	switch {
	case err != nil:
		return err
	case j.Kind == ports.JobReview && r == nil:
		return w.review(ctx, l)
	case j.Kind == ports.JobReview:
		return w.HandOver(ctx, l, ports.JobPublish)
	case r == nil:
		return w.HandOver(ctx, l, ports.JobReview)
	}
	if err := w.MarkPublished(ctx, r.RunID); err != nil {
		return err
	}
	more, err := w.Finish(ctx, l, r.Generation, false)
	if err != nil || !more {
		return err
	}
	return w.HandOver(ctx, l, ports.JobReview)
}

func (w leaseWorker) review(ctx context.Context, l ports.Lease) error {
	st, err := w.Target(ctx, l.Key)
	if err != nil {
		return err
	}
	published, err := w.Published(ctx, l.Key, st.Wanted)
	switch {
	case err != nil:
		return err
	case published || st.Wanted == st.Done:
		_, err := w.Finish(ctx, l, st.Wanted, false)
		return err
	}
	return w.SaveReview(ctx, l, ports.StoredReview{RunID: rand.Text(), Key: l.Key, Generation: st.Wanted, RepoID: st.RepoID, HeadSHA: st.HeadSHA})
}

// child prints the GUID of each delivery once it is acknowledged. It never
// returns.
func child(url string) {
	fail := func(err error) {
		fmt.Fprintln(os.Stderr, "child:", err)
		os.Exit(1)
	}
	s, err := store.Open(context.Background(), url, store.Options{Log: zerolog.New(os.Stderr).Level(zerolog.WarnLevel)})
	if err != nil {
		fail(err)
	}
	q, err := store.NewQueue(s, leaseWorker{s, func(string) { time.Sleep(2 * time.Millisecond) }}, store.QueueOptions{})
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
				if _, err := s.Accept(context.Background(), push(guid, childTarget(i))); err != nil {
					fail(err)
				}
				fmt.Println(guid)
			}
		}()
	}
	select {}
}

func TestKilledAtAnyMoment(t *testing.T) {
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		killAtAnyMoment(t, "sqlite://"+filepath.Join(t.TempDir(), "reviewgate.db"), 10*time.Second)
	})
	// PostgreSQL takes longer: the dead process's heartbeat expires after 10 s, and
	// Rescue runs every 5 s.
	t.Run("PostgreSQL", func(t *testing.T) {
		sample.Variant(t)
		t.Parallel()
		killAtAnyMoment(t, pgtest.URL(t), 30*time.Second)
	})
}

// killAtAnyMoment kills processes that work on a database. Another process must finish
// their work within the time.
func killAtAnyMoment(t *testing.T, url string, within time.Duration) {
	var acknowledged []string
	kills := sample.Size(2, 5)
	for range kills {
		acknowledged = append(acknowledged, runAndKill(t, url)...)
	}
	t.Logf("%d deliveries acknowledged by %d processes", len(acknowledged), kills)

	s := openStore(t, url)
	left := unfinished(t, s)
	start := time.Now()
	startQueue(t, s, leaseWorker{s, func(string) {}})
	for unfinished(t, s) > 0 {
		if time.Since(start) > within {
			t.Fatalf("%d of %d targets are unfinished %s after the start", unfinished(t, s), left, within)
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Logf("%d targets that were left undone were done within %s", left, time.Since(start).Round(time.Millisecond))
	read := ports.LogRead{UpTo: time.Now()}
	for i, guid := range acknowledged {
		read.Lost = append(read.Lost, ports.LostDelivery{HookAttempt: ports.HookAttempt{ID: int64(i + 1), GUID: guid, Event: "pull_request", At: time.Now()}})
	}
	if _, err := s.AddLostDeliveries(t.Context(), read); err != nil {
		t.Fatal(err)
	}
	lost, err := s.LostDeliveries(t.Context(), time.Now(), len(acknowledged)+1)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range lost {
		t.Errorf("delivery %s was acknowledged and is not known", d.GUID)
	}
	for i, guid := range sample.Of(t, 50, acknowledged) {
		a, err := s.Accept(t.Context(), push(guid, childTarget(i)))
		if err != nil {
			t.Fatal(err)
		}
		if !a.Duplicate {
			t.Errorf("delivery %s was acknowledged and is lost", guid)
		}
	}
}

// runAndKill starts a child, kills it in the middle of its work, and returns the GUIDs of
// the deliveries that it acknowledged.
func runAndKill(t *testing.T, url string) (guids []string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+url)
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
			time.AfterFunc(time.Duration(50+mathrand.IntN(sample.Size(100, 300)))*time.Millisecond, func() { cmd.Process.Kill() }) // Wait reports whether that worked
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
		st, err := s.Target(t.Context(), childTarget(i).Key())
		if errors.Is(err, ports.ErrNotFound) {
			continue // the child acknowledged none of them
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
