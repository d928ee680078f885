package store

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app/internal/store/sqlitetest"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
)

func openTest(t *testing.T) *Store {
	t.Helper()
	s, err := Open(t.Context(), sqlitetest.CopyURL(t, Prepare), Options{Log: zerolog.Nop(), Unsynced: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// commitTogether commits writes as one group.
func commitTogether(t *testing.T, s *Store, all ...*pending) {
	t.Helper()
	rest := all
	next := func(bool) *pending {
		if len(rest) == 0 {
			return nil
		}
		p := rest[0]
		rest = rest[1:]
		return p
	}
	s.db.(*sqliteDB).commitGroup(next(true), next)
	for i, p := range all {
		select {
		case <-p.done:
		default:
			t.Fatalf("write %d has no answer", i)
		}
	}
}

func asking(ctx context.Context, s *Store, number int, err error) *pending {
	return &pending{ctx: ctx, done: make(chan struct{}), do: func(t tx) error {
		_, rerr := s.raise(ctx, t, ports.ReviewAsk{Target: ports.Target{Kind: ports.TargetPull, Number: number}})
		return errors.Join(rerr, err)
	}}
}

func wantTargets(t *testing.T, s *Store, numbers ...int) {
	t.Helper()
	there := map[int]bool{}
	for _, n := range numbers {
		there[n] = true
	}
	for n := range 5 {
		_, err := s.Target(t.Context(), ports.Target{Number: n}.Key())
		if want := !there[n]; errors.Is(err, ports.ErrNotFound) != want {
			t.Errorf("target %d: %v, want it there: %v", n, err, there[n])
		}
	}
	if n, _, _, err := s.depth(t.Context()); err != nil || n["available"] != len(numbers) {
		t.Errorf("jobs %v, %v; want %d available", n, err, len(numbers))
	}
}

// A delivery that waits for its commit lets other writes join for a short time only.
func TestDeliveriesDoNotWaitForAllOthers(t *testing.T) {
	s := openTest(t)
	slow := &pending{ctx: t.Context(), done: make(chan struct{}), do: func(tx) error {
		<-time.After(maxUrgent)
		return nil
	}}
	delivery := asking(t.Context(), s, 1, nil)
	delivery.urgent = true
	waiting := []*pending{delivery, asking(t.Context(), s, 2, nil)}
	var others []bool
	s.db.(*sqliteDB).commitGroup(slow, func(may bool) *pending {
		others = append(others, may)
		if len(waiting) == 0 || !may && !waiting[0].urgent {
			return nil
		}
		p := waiting[0]
		waiting = waiting[1:]
		return p
	})
	if !slices.Equal(others, []bool{true, false}) {
		t.Errorf("others may join: %v, want true before the delivery and false after it", others)
	}
	select {
	case <-delivery.done:
	default:
		t.Error("the delivery is not committed")
	}
	wantTargets(t, s, 1)
}

// Only a few events are stored at a time. The others wait as long as their sender does.
func TestEventsWaitForEachOther(t *testing.T) {
	s := openTest(t)
	places := s.Sessions.(sessions).speaking
	for range maxSpeaking {
		places <- struct{}{}
	}
	event := ports.SessionEvent{ID: "one", Kind: pipeline.TriggerMilestone, Target: ports.Target{Kind: ports.TargetPull, RepoID: 1, Number: 1}, Agent: "claude"}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Speak(ctx, event, ports.SessionSettings{}); !errors.Is(err, context.Canceled) {
		t.Errorf("an event without a place: %v", err)
	}
	<-places
	if said, err := s.Speak(t.Context(), event, ports.SessionSettings{}); err != nil || said.Known {
		t.Errorf("an event with a place: %+v, %v", said, err)
	}
	if len(places) != maxSpeaking-1 {
		t.Errorf("%d places are taken, want %d", len(places), maxSpeaking-1)
	}
}

func TestGroupUndoesOnlyWhatFailed(t *testing.T) {
	s := openTest(t)
	bad := errors.New("bad")
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	all := []*pending{
		asking(t.Context(), s, 0, nil), asking(t.Context(), s, 1, bad), asking(gone, s, 2, nil), asking(t.Context(), s, 3, nil),
	}
	commitTogether(t, s, all...)
	for i, want := range []error{nil, bad, context.Canceled, nil} {
		if !errors.Is(all[i].err, want) {
			t.Errorf("write %d: %v, want %v", i, all[i].err, want)
		}
	}
	wantTargets(t, s, 0, 3)
}

func TestGroupThatIsLostAnswersNobodyWell(t *testing.T) {
	s := openTest(t)
	ending := &pending{ctx: t.Context(), done: make(chan struct{}), do: func(tx tx) error {
		_, err := tx.exec(t.Context(), "ROLLBACK") // SQLite does this by itself when the disk is full
		return err
	}}
	bad := errors.New("bad")
	all := []*pending{asking(t.Context(), s, 0, nil), asking(t.Context(), s, 1, bad), ending}
	commitTogether(t, s, all...)
	for i, p := range all {
		if !errors.Is(p.err, errBroken) {
			t.Errorf("write %d: %v, want that the transaction is lost", i, p.err)
		}
	}
	wantTargets(t, s)
	commitTogether(t, s, asking(t.Context(), s, 0, nil))
	wantTargets(t, s, 0)
}

func TestWriteIsNotInterrupted(t *testing.T) {
	s := openTest(t)
	ctx, cancel := context.WithCancel(t.Context())
	p := asking(ctx, s, 0, nil)
	ask := p.do
	p.do = func(t tx) error { cancel(); return ask(t) }
	commitTogether(t, s, p, asking(t.Context(), s, 1, nil))
	if p.err != nil {
		t.Errorf("a write whose context ended while it ran: %v", p.err)
	}
	wantTargets(t, s, 0, 1)
}

func TestPanicReachesWhoAsked(t *testing.T) {
	s := openTest(t)
	err := func() (err error) {
		defer func() { err, _ = recover().(error) }()
		return s.db.write(t.Context(), func(t tx) error {
			if err := asking(context.Background(), s, 0, nil).do(t); err != nil {
				return err
			}
			panic(errBroken)
		})
	}()
	if !errors.Is(err, errBroken) {
		t.Errorf("recovered %v, want what the write panicked with", err)
	}
	wantTargets(t, s)
}
