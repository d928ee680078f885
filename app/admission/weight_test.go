package admission

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/normalize"
	"github.com/reviewgate/reviewgate/pipeline/raw"
)

const mb = 1 << 20

// memoryFor is a room with a limit; the test moves its clock.
func memoryFor(limit int64) (*Room, *time.Time) {
	now := time.Unix(1_700_000_000, 0)
	return NewRoom(limit, 15*time.Second, func() time.Time { return now }), &now
}

func pullKey(repo, number int) string { return fmt.Sprintf("pull/%d/%d", repo, number) }

func waitOf(t *testing.T, err error) *MemoryWait {
	t.Helper()
	var w *MemoryWait
	if !errors.As(err, &w) {
		t.Fatalf("it does not wait: %v", err)
	}
	return w
}

func TestOneLargeChangeIsAlwaysAdmitted(t *testing.T) {
	a, _ := memoryFor(100 * mb)
	one := a.TicketFor(pullKey(1, 1), "head", 0, ports.JobReview)
	if err := one.Weigh(5000 * mb); err != nil {
		t.Fatal(err)
	}
	if err := one.Weigh(9000 * mb); err != nil {
		t.Errorf("alone it may grow: %v", err)
	}
}

func TestLargeChangesShareTheMemory(t *testing.T) {
	a, now := memoryFor(1000 * mb)
	var admitted []*Ticket
	for i := range 8 {
		k := a.TicketFor(pullKey(i, 1), "head", 0, ports.JobReview)
		*now = now.Add(time.Second)
		if err := k.Weigh(200 * mb); err == nil {
			admitted = append(admitted, k)
		}
	}
	if len(admitted) != 3 {
		t.Fatalf("%d of 200 MB are admitted to 600 MB", len(admitted))
	}
	for range 100 {
		if err := a.TicketFor(pullKey(100, 1), "head", 0, ports.JobReview).Weigh(smallWeight); err != nil {
			t.Fatalf("a small one is held back: %v", err)
		}
	}
	admitted[0].End(true)
	if err := a.TicketFor(pullKey(7, 1), "head", 0, ports.JobReview).Readmit(); err == nil {
		t.Error("the last in the line goes first")
	}
	if err := a.TicketFor(pullKey(3, 1), "head", 0, ports.JobReview).Readmit(); err != nil {
		t.Errorf("the first in the line waits: %v", err)
	}
}

func TestALargeChangeIsNotOvertakenForEver(t *testing.T) {
	a, now := memoryFor(1000 * mb)
	first := a.TicketFor(pullKey(1, 1), "head", 0, ports.JobReview)
	if err := first.Weigh(300 * mb); err != nil {
		t.Fatal(err)
	}
	waitOf(t, a.TicketFor(pullKey(2, 1), "head", 0, ports.JobReview).Weigh(500*mb))
	*now = now.Add(time.Second)
	// It would fit, but the larger one has waited for longer.
	if w := waitOf(t, a.TicketFor(pullKey(3, 1), "head", 0, ports.JobReview).Weigh(100*mb)); w.Before != 2 {
		t.Errorf("%d are said to be before it", w.Before)
	}
	first.End(true)
	if err := a.TicketFor(pullKey(2, 1), "head", 0, ports.JobReview).Readmit(); err != nil {
		t.Errorf("its turn has come: %v", err)
	}
	if err := a.TicketFor(pullKey(3, 1), "head", 0, ports.JobReview).Readmit(); err != nil {
		t.Errorf("there is room beside it: %v", err)
	}
}

func TestARepositoryThatIsAtWorkGoesLast(t *testing.T) {
	a, now := memoryFor(1000 * mb)
	busy := a.TicketFor(pullKey(1, 1), "head", 0, ports.JobReview)
	other := a.TicketFor(pullKey(1, 2), "head", 0, ports.JobReview)
	for _, k := range []*Ticket{busy, other} {
		if err := k.Weigh(300 * mb); err != nil {
			t.Fatal(err)
		}
	}
	waitOf(t, a.TicketFor(pullKey(1, 3), "head", 0, ports.JobReview).Weigh(300*mb))
	*now = now.Add(time.Second)
	waitOf(t, a.TicketFor(pullKey(2, 1), "head", 0, ports.JobReview).Weigh(300*mb))
	other.End(true)
	waitOf(t, a.TicketFor(pullKey(1, 3), "head", 0, ports.JobReview).Readmit())
	if err := a.TicketFor(pullKey(2, 1), "head", 0, ports.JobReview).Readmit(); err != nil {
		t.Errorf("the other repository waits for the busy one: %v", err)
	}
}

// An author's second large change goes after another author's first one, however many wait.
func TestAuthorsTakeTurnsForMemory(t *testing.T) {
	a, now := memoryFor(1000 * mb)
	ask := func(n int, author int64) error {
		return a.TicketFor(pullKey(1, n), "head", author, ports.JobReview).Weigh(500 * mb)
	}
	busy := a.TicketFor(pullKey(1, 1), "head", 7, ports.JobReview)
	if err := busy.Weigh(500 * mb); err != nil {
		t.Fatal(err)
	}
	for n := 2; n < 6; n++ {
		*now = now.Add(time.Second)
		waitOf(t, ask(n, 7))
	}
	*now = now.Add(time.Second)
	waitOf(t, ask(6, 8))
	busy.End(true)
	waitOf(t, ask(2, 7))
	if err := ask(6, 8); err != nil {
		t.Errorf("the other author waits for all changes of the first: %v", err)
	}
}

func TestWhatIsStoredIsWrittenFirst(t *testing.T) {
	a, now := memoryFor(1000 * mb)
	busy := a.TicketFor(pullKey(1, 1), "head", 0, ports.JobReview)
	if err := busy.Weigh(600 * mb); err != nil {
		t.Fatal(err)
	}
	waitOf(t, a.TicketFor(pullKey(2, 1), "head", 0, ports.JobReview).Weigh(100*mb))
	*now = now.Add(time.Second)
	busy.End(false)
	if err := a.TicketFor(pullKey(1, 1), "head", 0, ports.JobPublish).Readmit(); err != nil {
		t.Errorf("a stored review waits for others to begin: %v", err)
	}
}

func TestWaitersThatAreGoneHoldNobodyUp(t *testing.T) {
	a, now := memoryFor(1000 * mb)
	busy := a.TicketFor(pullKey(1, 1), "head", 0, ports.JobReview)
	if err := busy.Weigh(500 * mb); err != nil {
		t.Fatal(err)
	}
	waitOf(t, a.TicketFor(pullKey(2, 1), "head", 0, ports.JobReview).Weigh(500*mb))
	waitOf(t, a.TicketFor(pullKey(3, 1), "head", 0, ports.JobReview).Weigh(500*mb))
	busy.End(true)
	// The first of them was pushed to, and is small now.
	if err := a.TicketFor(pullKey(2, 1), "head 2", 0, ports.JobReview).Weigh(mb); err != nil {
		t.Fatal(err)
	}
	third := a.TicketFor(pullKey(3, 1), "head", 0, ports.JobReview)
	if err := third.Readmit(); err != nil {
		t.Errorf("it waits for what is small now: %v", err)
	}
	waitOf(t, a.TicketFor(pullKey(4, 1), "head", 0, ports.JobReview).Weigh(500*mb))
	*now = now.Add(time.Second)
	waitOf(t, a.TicketFor(pullKey(5, 1), "head", 0, ports.JobReview).Weigh(500*mb))
	third.End(true)
	*now = now.Add(waiterGone + time.Second)
	if err := a.TicketFor(pullKey(5, 1), "head", 0, ports.JobReview).Readmit(); err != nil {
		t.Errorf("it waits for one that does not ask any more: %v", err)
	}
}

func TestTheWaitIsToldAfterAWhile(t *testing.T) {
	a, now := memoryFor(1000 * mb)
	if err := a.TicketFor(pullKey(1, 1), "head", 0, ports.JobReview).Weigh(600 * mb); err != nil {
		t.Fatal(err)
	}
	began := *now
	var told []time.Duration
	for range 180 {
		w := waitOf(t, a.TicketFor(pullKey(2, 1), "head", 0, ports.JobReview).Weigh(600*mb))
		if w.Tell {
			told = append(told, now.Sub(began))
			a.WaitShown(pullKey(2, 1))
		}
		*now = now.Add(time.Second)
	}
	if want := []time.Duration{15 * time.Second, 75 * time.Second, 135 * time.Second}; !slices.Equal(told, want) {
		t.Errorf("told after %v, want %v", told, want)
	}
}

func TestWeightOfAChange(t *testing.T) {
	for _, c := range []struct {
		name       string
		files      int
		lines      int
		bytes      int
		large      bool
		mostWeight int64
	}{
		{"ten files of some lines", 10, 400, 20_000, false, mb},
		{"a file of 50,000 lines", 1, 50_000, 1 * mb, false, smallWeight},
		{"3,000 files and 100,000 lines", 3000, 100_000, 4 * mb, true, 120 * mb},
		{"ten files of a million short lines", 10, 10_000_000, 20 * mb, true, 400 * mb},
		{"one line of 20 MB", 1, 1, 20 * mb, true, 200 * mb},
		{"impossible counts", 1, -5, 0, false, mb},
	} {
		w := weight(c.files, c.lines, c.bytes)
		if (w > smallWeight) != c.large || w > c.mostWeight {
			t.Errorf("%s: %d MB", c.name, w/mb)
		}
	}
	pr := raw.PullRequest{Totals: pipeline.Totals{Files: 100, Additions: 200_000, Deletions: 300_000}}
	if w := WeightOfTotals(&pr); w < 100*mb {
		t.Errorf("the totals weigh %d MB", w/mb)
	}
	files := []raw.ChangedFile{{Patch: strings.Repeat("+x\n", 200_000)}, {Patch: "+" + strings.Repeat("x", 5*mb)}}
	if w := WeightOfFiles(files); w < 100*mb {
		t.Errorf("the diffs weigh %d MB", w/mb)
	}
}

// docs/performance.md has the weights of a change.
func TestPageSaysTheWeights(t *testing.T) {
	text, err := os.ReadFile("../../docs/performance.md")
	if err != nil {
		t.Fatal(err)
	}
	page := strings.Join(strings.Fields(string(text)), " ")
	for _, says := range []string{
		fmt.Sprintf("%d KB for each file, %d bytes for each of up to %d,000 lines", weightOfFile>>10, weightOfLine, normalize.MaxLines/1000),
		fmt.Sprintf("and %d times the bytes of its diffs", weightOfByte),
		fmt.Sprintf("A change of up to %d MB by that count never waits", smallWeight>>20),
	} {
		if !strings.Contains(page, says) {
			t.Errorf("docs/performance.md does not say %q", says)
		}
	}
}

func TestTheWeightsThatAreKnownAreBounded(t *testing.T) {
	a, _ := memoryFor(1000 * mb)
	for i := range maxWeights + 100 {
		k := a.TicketFor(pullKey(i, 1), "head", 0, ports.JobReview)
		if err := k.Weigh(100 * mb); err != nil {
			t.Fatal(err)
		}
		k.End(false)
	}
	if n := len(a.changes); n > maxWeights {
		t.Errorf("%d weights are kept", n)
	}
}
