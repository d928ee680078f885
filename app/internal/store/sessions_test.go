package store_test

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app/internal/store"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
)

func milestone(g ports.Target, id string) ports.SessionEvent {
	return ports.SessionEvent{ID: id, Kind: pipeline.TriggerMilestone, Target: g, Agent: "claude", Summary: "done"}
}

// atOnceDue are settings with which a cycle is due a microsecond after its event.
var atOnceDue = ports.SessionSettings{Join: time.Microsecond, MaxWords: 200}

// The timers of a session outlive the process: whatever happens next happens in another one.
func TestSessionsOutliveTheirProcess(t *testing.T) {
	onEach(t, sessionsOutliveTheirProcess)
}

func sessionsOutliveTheirProcess(t *testing.T, p prepared) {
	g := pull(1, "aaa")
	clock := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	settings := ports.SessionSettings{Join: 5 * time.Second, Fallback: 15 * time.Minute, MaxWords: 200}
	// inProcess does something in a process of its own.
	inProcess := func(do func(*store.Store) error) {
		t.Helper()
		s, err := store.Open(t.Context(), p.url, store.Options{Log: zerolog.Nop()})
		if err != nil {
			t.Fatal(err)
		}
		now := clock
		s.Now = func() time.Time { return now }
		if err := errors.Join(do(s), s.Close()); err != nil {
			t.Fatal(err)
		}
	}
	fire := func(want int) {
		t.Helper()
		inProcess(func(s *store.Store) error {
			n, err := s.Fire(t.Context())
			if n != want {
				err = errors.Join(err, fmt.Errorf("Fire at %v = %d, want %d", clock, n, want))
			}
			return err
		})
	}
	inProcess(func(s *store.Store) error {
		_, err := s.Speak(t.Context(), milestone(g, "m1"), settings)
		return err
	})
	clock = clock.Add(5 * time.Second)
	fire(1)
	inProcess(func(s *store.Store) error {
		l, ok, err := s.Acquire(t.Context(), g.Key(), "run", time.Minute)
		if err != nil || !ok {
			return fmt.Errorf("the lease: %v, %w", ok, err)
		}
		if err := s.SetHead(t.Context(), g.Key(), "aaa"); err != nil {
			return err
		}
		q := ports.SessionRequest{ID: "q", Kind: ports.RequestReview, Key: g.Key(), Cycle: 1, HeadSHA: "aaa", Agent: "codex", Deadline: clock.Add(10 * time.Minute)}
		_, err = s.AskReviewers(t.Context(), l, 1, "aaa", q.Deadline, []ports.SessionRequest{q})
		return errors.Join(err, s.Release(t.Context(), l))
	})
	fire(0)
	clock = clock.Add(10 * time.Minute)
	fire(1) // the reviewers' deadline has passed
	fire(0)
	inProcess(func(s *store.Store) error {
		l, ok, err := s.Acquire(t.Context(), g.Key(), "run", time.Minute)
		if err != nil || !ok {
			return fmt.Errorf("the lease: %v, %w", ok, err)
		}
		r := ports.StoredReview{RunID: "run", Key: g.Key(), Generation: 2, RepoID: g.RepoID, HeadSHA: "aaa", Session: ports.SessionOutcome{Cycle: 1, State: &pipeline.SessionState{Cycle: 1, Rule: 4}}}
		return s.SaveReview(t.Context(), l, r)
	})
	inProcess(func(s *store.Store) error { return s.MarkPublished(t.Context(), "run") })
	clock = clock.Add(5 * time.Minute)
	fire(1) // no agent has reported for a while
	fire(0)
	inProcess(func(s *store.Store) error {
		r, err := s.Session(t.Context(), g.Key())
		if r.Cycle.Number != 2 || !r.Cycle.Fallback() || !r.Running || r.State.Cycle != 1 {
			t.Errorf("the session is %+v", r)
		}
		return err
	})
}

// Two processes find the same sessions due at the same time.
func TestReplicasBeginACycleOnce(t *testing.T) {
	t.Parallel()
	both := openTwo(t)
	for round := range 10 {
		const pulls = 4
		for n := range pulls {
			g := pull(n+1, "aaa")
			if _, err := both[0].Speak(t.Context(), milestone(g, fmt.Sprint(round, " ", n)), atOnceDue); err != nil {
				t.Fatal(err)
			}
		}
		var fired atomic.Int64
		atOnce(both, func(_ int, s *store.Store) {
			n, err := s.Fire(t.Context())
			if err != nil {
				t.Error(err)
			}
			fired.Add(int64(n))
		})
		if fired.Load() != pulls {
			t.Fatalf("round %d: %d cycles began, want %d", round, fired.Load(), pulls)
		}
		for n := range pulls {
			key := pull(n+1, "").Key()
			if r, err := both[1].Session(t.Context(), key); err != nil || r.Cycle.Number != round+1 {
				t.Fatalf("round %d: the session is %+v, %v", round, r, err)
			}
			if st := state(t, both[1], key); st.Wanted != int64(round+1) {
				t.Fatalf("round %d: generation %d is wanted", round, st.Wanted)
			}
			l, ok, err := both[0].Acquire(t.Context(), key, "run", time.Minute)
			if err != nil || !ok {
				t.Fatal(ok, err)
			}
			if err := errors.Join(both[0].StallCycle(t.Context(), l), both[0].Release(t.Context(), l)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Two processes store the same event, about one pull request or about two.
func TestReplicasStoreAnEventOnce(t *testing.T) {
	t.Parallel()
	both := openTwo(t)
	for round := range 20 {
		var stored, other atomic.Int64
		atOnce(both, func(i int, s *store.Store) {
			said, err := s.Speak(t.Context(), milestone(pull(1+i*(round%2), "aaa"), fmt.Sprint(round)), ports.SessionSettings{Join: time.Hour})
			switch {
			case errors.Is(err, ports.ErrOtherEvent):
				other.Add(1)
			case err != nil:
				t.Error(err)
			case !said.Known:
				stored.Add(1)
			}
		})
		if stored.Load() != 1 || other.Load() != int64(round%2) {
			t.Fatalf("round %d: stored %d times, and refused %d times", round, stored.Load(), other.Load())
		}
	}
}

// A signature is good for one request only, even if two processes store answers at once.
func TestReplicasCountASignatureOnce(t *testing.T) {
	t.Parallel()
	both := openTwo(t)
	for n := range 2 {
		mustAccept(t, both[0], push(fmt.Sprint(n), pull(n+1, "aaa")))
	}
	for round := range 20 {
		var outcomes [2]ports.AnswerOutcome
		for n := range 2 {
			key := pull(n+1, "").Key()
			l, ok, err := both[0].Acquire(t.Context(), key, "run", time.Minute)
			if err != nil || !ok {
				t.Fatal(ok, err)
			}
			q := ports.SessionRequest{ID: fmt.Sprint(round, " ", n), Kind: ports.RequestReview, Key: key, HeadSHA: "aaa", Agent: fmt.Sprint("agent ", round)}
			_, err = both[0].AskReviewers(t.Context(), l, 0, "aaa", time.Time{}, []ports.SessionRequest{q})
			if err := errors.Join(err, both[0].Release(t.Context(), l)); err != nil {
				t.Fatal(err)
			}
		}
		atOnce(both, func(i int, s *store.Store) {
			var err error
			outcomes[i], err = s.Answer(t.Context(), ports.RequestAnswer{ID: fmt.Sprint(round, " ", i), Digest: "same", Signature: fmt.Sprint("signature ", round)})
			if err != nil {
				t.Error(err)
			}
		})
		if (outcomes[0] == ports.AnswerStored) == (outcomes[1] == ports.AnswerStored) || outcomes[0] != ports.AnswerReplayed && outcomes[1] != ports.AnswerReplayed {
			t.Fatalf("round %d: %q", round, outcomes)
		}
	}
}

// One process stores the first event of a target while another asks the first reviewers about it.
func TestReplicasMakeASessionOnce(t *testing.T) {
	t.Parallel()
	both := openTwo(t)
	for round := range 20 {
		g := pull(round+1, "aaa")
		mustAccept(t, both[0], push(fmt.Sprint(round), g))
		l, ok, err := both[1].Acquire(t.Context(), g.Key(), "run", time.Minute)
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		atOnce(both, func(i int, s *store.Store) {
			if i == 0 {
				if _, err := s.Speak(t.Context(), milestone(g, fmt.Sprint(round)), ports.SessionSettings{Join: time.Hour}); err != nil {
					t.Error(err)
				}
				return
			}
			q := ports.SessionRequest{ID: fmt.Sprint(round), Kind: ports.RequestReview, Key: g.Key(), HeadSHA: "aaa", Agent: "codex", Deadline: time.Unix(1, 0)}
			if _, err := s.AskReviewers(t.Context(), l, 0, "aaa", q.Deadline, []ports.SessionRequest{q}); err != nil {
				t.Error(err)
			}
		})
		if r, err := both[0].Session(t.Context(), g.Key()); err != nil || r.GatherAt.IsZero() || r.Pending != 1 {
			t.Fatalf("round %d: the event is lost, and the session is %+v, %v", round, r, err)
		}
		if n, err := both[0].Fire(t.Context()); err != nil || n != 1 {
			t.Fatalf("round %d: the deadline is lost: Fire = %d, %v", round, n, err)
		}
	}
}

// A merge group that is destroyed while the session of its pull request is paused stays closed.
func TestDestroyedGroupStaysClosed(t *testing.T) {
	t.Parallel()
	url := preparedURL(t)
	s, err := store.Open(t.Context(), url, store.Options{Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // the test is over
	g := pull(1, "aaa")
	group := ports.Target{Kind: ports.TargetGroup, RepoID: g.RepoID, Owner: g.Owner, Name: g.Name, Number: 1, HeadSHA: "ggg", HeadRef: "refs/heads/gh-readonly-queue/main/pr-1"}
	mustAccept(t, s, push("1", g))
	mustAccept(t, s, push("2", group))
	if _, err := s.Speak(t.Context(), milestone(g, "m1"), atOnceDue); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Millisecond)
	if _, err := s.Fire(t.Context()); err != nil {
		t.Fatal(err)
	}
	l, ok, err := s.Acquire(t.Context(), g.Key(), "run", time.Minute)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	pause := &pipeline.SessionPause{Cycle: 1, Rule: 1, Reviewers: pipeline.List[string]{"codex"}}
	r := ports.StoredReview{
		RunID: "run", Key: g.Key(), Generation: state(t, s, g.Key()).Wanted, RepoID: g.RepoID, HeadSHA: "aaa",
		Session: ports.SessionOutcome{Cycle: 1, State: &pipeline.SessionState{Cycle: 1, Rule: 1, Escalation: pause}},
	}
	if err := s.SaveReview(t.Context(), l, r); err != nil {
		t.Fatal(err)
	}
	c, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(t.Context()) //nolint:errcheck // the test is over
	tx, err := c.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), `UPDATE targets SET closed = 1 WHERE key = $1`, group.Key()); err != nil { // as another process does
		t.Fatal(err)
	}
	published := make(chan error, 1)
	go func() { published <- s.MarkPublished(t.Context(), "run") }()
	time.Sleep(300 * time.Millisecond) // it waits for the row
	if err := errors.Join(tx.Commit(t.Context()), <-published); err != nil {
		t.Fatal(err)
	}
	if st := state(t, s, group.Key()); !st.Closed || st.Wanted != 1 {
		t.Errorf("the group is %+v", st)
	}
}
