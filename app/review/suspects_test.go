package review

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/admission"
	"github.com/reviewgate/reviewgate/app/ports"
)

// ask takes a turn and reports whether it was given.
func ask(t *testing.T, of *turn, alone bool) bool {
	t.Helper()
	err := of.take(alone)
	if wait := (*turnWait)(nil); err != nil && (!errors.As(err, &wait) || wait.after < turnStep || wait.after > maxTurnStep) {
		t.Fatalf("error %v, want a wait of %v to %v", err, turnStep, maxTurnStep)
	}
	return err == nil
}

// Several suspects share a process. A suspect that runs alone has its own process, and goes
// before those that come after it.
func TestSuspectsShareAProcess(t *testing.T) {
	var s suspects
	var turns []*turn
	for i := range suspectsTogether + 1 {
		turns = append(turns, s.turn(fmt.Sprint(i)))
		if got, want := ask(t, turns[i], false), i < suspectsTogether; got != want {
			t.Fatalf("turn %d: %v", i, got)
		}
	}
	single := s.turn("single")
	if ask(t, single, true) {
		t.Fatal("the single suspect runs beside others")
	}
	for _, other := range turns[:suspectsTogether] {
		other.end()
		if ask(t, turns[suspectsTogether], false) {
			t.Fatal("another suspect starts before the waiting single one")
		}
	}
	if !ask(t, single, true) || !ask(t, single, false) {
		t.Fatal("the single suspect gets no turn, or only one")
	}
	if ask(t, s.turn("second"), true) || ask(t, turns[4], false) {
		t.Fatal("another suspect runs beside the single one")
	}
	single.end()
	single.end()
	if ask(t, turns[4], false) {
		t.Error("the second single suspect does not go first")
	}
	s.waiting["second"] = asked{time.Now().Add(-2 * turnGone), true}
	if !ask(t, turns[4], false) {
		t.Error("the turns wait for a suspect that asks no more")
	}
}

// After a shared process has ended, each of its suspects is tried alone once.
func TestSuspectIsTriedAloneAfterItsProcessEnded(t *testing.T) {
	var s suspects
	first := s.turn("a")
	if !ask(t, first, false) {
		t.Fatal("no turn")
	}
	first.nextAlone()
	first.end()
	again := s.turn("a")
	if !ask(t, again, false) || !again.alone {
		t.Fatal("the suspect is not tried alone")
	}
	again.end()
	if last := s.turn("a"); !ask(t, last, false) || last.alone {
		t.Error("the suspect is tried alone forever")
	}
	beside := s.turn("b")
	if !ask(t, beside, false) {
		t.Fatal("no turn beside it")
	}
	if ask(t, beside, true) || beside.held {
		t.Error("a turn beside others counts as one alone")
	}
}

// The memory of the process is reserved once, until the last turn ends.
func TestSuspectsReserveMemoryOnce(t *testing.T) {
	var s suspects
	m := admission.NewRoom(1<<30, time.Hour, time.Now)
	large := m.TicketFor("large", "h", 0, ports.JobReview)
	if err := large.Weigh(large.All()); err != nil {
		t.Fatal(err)
	}
	a, b := s.turn("a"), s.turn("b")
	if !ask(t, a, false) || !ask(t, b, false) {
		t.Fatal("no turns")
	}
	if err := a.admit(m.TicketFor("a", "h", 0, ports.JobReview)); !errors.As(err, new(*admission.MemoryWait)) {
		t.Fatalf("beside a large change: %v", err)
	}
	large.End(true)
	for _, turn := range []*turn{a, b} {
		if err := turn.admit(m.TicketFor(turn.key, "h", 0, ports.JobReview)); err != nil {
			t.Fatal(err)
		}
	}
	a.end()
	if err := large.Weigh(large.All()); !errors.As(err, new(*admission.MemoryWait)) {
		t.Fatalf("a large change beside the process: %v", err)
	}
	b.end()
	if err := large.Weigh(large.All()); err != nil {
		t.Errorf("after the last: %v", err)
	}
}
