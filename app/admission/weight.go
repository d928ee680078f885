package admission

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline/normalize"
	"github.com/reviewgate/reviewgate/pipeline/raw"
)

// The memory that a change takes while it is reviewed, in bytes. The numbers are measured
// (docs/performance.md) and rounded up.
const (
	weightOfFile = 8 << 10
	weightOfLine = 300 // even for a short line
	weightOfByte = 8   // of a diff
	// A change is never held back if it weighs at most smallWeight and at most one
	// smallPart-th of the memory for large changes. The number of workers limits how many
	// small changes are reviewed at the same time.
	smallWeight = 32 << 20
	smallPart   = 16
)

// largeShare is the percentage of the memory limit that all large changes together may use.
// defaultMemory is the limit if the server has none configured, in bytes.
const (
	largeShare    = 60
	defaultMemory = 1 << 30
)

const (
	// tellWaitAgain is the minimum time between two updates of a check that says that its
	// change waits.
	tellWaitAgain = time.Minute
	// A waiting change asks again after waitStep for each change before it in line, at most
	// maxWaitStep. A change that has not asked for waiterGone may have been closed, and no
	// longer counts as waiting.
	waitStep    = 500 * time.Millisecond
	maxWaitStep = 10 * time.Second
	waiterGone  = 4 * maxWaitStep
	// maxWeights is how many weights are remembered. A change whose weight was forgotten is
	// read again to weigh it.
	maxWeights = 10_000
)

// weight returns the memory for a change with this many files, changed lines and bytes of
// diffs. Lines beyond the maximum that is read count only with their bytes.
func weight(files, lines, bytes int) int64 {
	return int64(files)*weightOfFile + int64(min(max(lines, 0), normalize.MaxLines))*weightOfLine + int64(bytes)*weightOfByte
}

// WeightOfTotals returns the weight as far as it is known before the diff is read.
func WeightOfTotals(p *raw.PullRequest) int64 {
	return weight(p.Totals.Files, p.Totals.Additions+p.Totals.Deletions, 0)
}

// WeightOfFiles returns the weight after the diff was read.
func WeightOfFiles(files []raw.ChangedFile) int64 {
	lines, bytes := 0, 0
	for i := range files {
		lines += strings.Count(files[i].Patch, "\n") + 1
		bytes += len(files[i].Patch)
	}
	return weight(len(files), lines, bytes)
}

// MemoryWait says that a change waits for memory. Its review is put off, which does not
// count as a failed attempt.
type MemoryWait struct {
	Before int           // large changes that are under review or earlier in line
	Since  time.Time     // when the wait began
	after  time.Duration // when to ask again
	Tell   bool          // the check should say so
}

func (e *MemoryWait) Error() string {
	return fmt.Sprintf("the review waits for memory; large changes before it: %d", e.Before)
}

func (e *MemoryWait) again() time.Duration { return e.after }

// Room admits large changes only as far as memory allows. It always admits one, even the
// largest. It never holds small changes back.
type Room struct {
	most  int64         // bytes that all large changes together may use
	small int64         // maximum bytes of a small change
	tell  time.Duration // after which the check says that a change waits
	now   func() time.Time

	mu       sync.Mutex
	admitted map[*Ticket]struct{} // the large ones under way
	changes  map[string]*weighed  // by key: those that wait, and those whose weight is known
	served   map[int64]time.Time  // by the author's account id: when a large change was last admitted
}

// weighed is the record of a large change.
type weighed struct {
	head     string
	author   int64
	weight   int64
	publish  bool      // its review is stored and only has to be published
	since    time.Time // when it began to wait; zero if it does not
	seen     time.Time // when it last asked
	lastTold time.Time // when its check last said so
}

// NewRoom returns a Room for a memory limit in bytes. The default is 1 GiB. tell is how
// long a change waits before its check says so.
func NewRoom(limit int64, tell time.Duration, now func() time.Time) *Room {
	if limit <= 0 {
		limit = defaultMemory
	}
	most := limit / 100 * largeShare
	return &Room{most: most, small: min(smallWeight, most/smallPart), tell: tell, now: now, admitted: map[*Ticket]struct{}{}, changes: map[string]*weighed{}, served: map[int64]time.Time{}}
}

// Ticket is held while a target is worked on.
type Ticket struct {
	of        *Room
	key, head string
	author    int64 // account id, 0 if unknown
	publish   bool
	weight    int64 // as admitted; 0 for a small one, and before
}

// TicketFor returns a ticket for work on a target. author is an account id, 0 if unknown.
// The ticket takes no room until it is weighed.
func (r *Room) TicketFor(key, head string, author int64, kind ports.JobKind) *Ticket {
	return &Ticket{of: r, key: key, head: head, author: author, publish: kind == ports.JobPublish}
}

// Readmit admits a change whose weight is known, before any of it is read again. The error
// is a *MemoryWait.
func (t *Ticket) Readmit() error {
	t.of.mu.Lock()
	defer t.of.mu.Unlock()
	if w := t.of.changes[t.key]; w != nil && w.head == t.head {
		return t.admit(w.weight)
	}
	return nil
}

// Weigh admits the change with a weight, or with a larger one than before. If the error is
// a *MemoryWait, the change has no room at all.
func (t *Ticket) Weigh(weight int64) error {
	t.of.mu.Lock()
	defer t.of.mu.Unlock()
	return t.admit(weight)
}

// All returns the weight of a change that leaves no room for another large one.
func (t *Ticket) All() int64 { return t.of.most }

// admit admits the change with a weight. The lock must be held.
func (t *Ticket) admit(weight int64) error {
	r := t.of
	if weight <= r.small || weight <= t.weight {
		if t.weight == 0 {
			delete(r.changes, t.key) // its previous head may have been large
		}
		return nil
	}
	now := r.now()
	w := r.changes[t.key]
	if w == nil {
		r.forgetOne()
		w = &weighed{}
		r.changes[t.key] = w
	}
	if w.head != t.head {
		w.lastTold = time.Time{} // the new head has another check
	}
	w.head, w.author, w.weight, w.publish, w.seen = t.head, t.author, weight, t.publish, now
	before := r.inLineBefore(t.key, w, now)
	if t.weight > 0 {
		before = 0 // it is already admitted and only needs more room
	}
	if r.fits(t, weight) && before == 0 {
		w.since = time.Time{}
		t.weight = weight
		r.admitted[t] = struct{}{}
		if len(r.served) >= maxWeights {
			clear(r.served)
		}
		r.served[t.author] = now
		return nil
	}
	delete(r.admitted, t)
	t.weight = 0
	if w.since.IsZero() {
		w.since = now
	}
	before += len(r.admitted)
	e := &MemoryWait{Before: before, Since: w.since, after: min(maxWaitStep, waitStep*time.Duration(max(1, before)))}
	e.Tell = now.Sub(w.since) >= r.tell && now.Sub(w.lastTold) >= tellWaitAgain
	return e
}

// WaitShown records that a change's check says that it waits.
func (r *Room) WaitShown(key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if w := r.changes[key]; w != nil {
		w.lastTold = r.now()
	}
}

// fits reports whether the weight fits beside the weights of the others, or there are no
// others. The lock must be held.
func (r *Room) fits(t *Ticket, weight int64) bool {
	sum, others := weight, false
	for o := range r.admitted {
		if o != t {
			sum, others = sum+o.weight, true
		}
	}
	return !others || sum <= r.most
}

// inLineBefore counts the waiting changes that go first. The order is: a change that only
// has to be published; the change whose repository has fewer changes under way; the change
// whose author was last admitted longer ago; the change that has waited longer. The lock
// must be held.
func (r *Room) inLineBefore(key string, w *weighed, now time.Time) int {
	at := map[string]int{}
	for t := range r.admitted {
		at[repositoryOf(t.key)]++
	}
	since := w.since
	if since.IsZero() {
		since = now
	}
	n := 0
	for k, o := range r.changes {
		if k == key || o.since.IsZero() || now.Sub(o.seen) > waiterGone {
			continue
		}
		switch mine, theirs := at[repositoryOf(key)], at[repositoryOf(k)]; {
		case o.publish != w.publish:
			if o.publish {
				n++
			}
		case theirs != mine:
			if theirs < mine {
				n++
			}
		case !r.served[o.author].Equal(r.served[w.author]):
			if r.served[o.author].Before(r.served[w.author]) {
				n++
			}
		case o.since.Before(since):
			n++
		}
	}
	return n
}

// repositoryOf returns the common prefix of the keys of a repository's targets of one kind.
func repositoryOf(key string) string { return key[:max(0, strings.LastIndexByte(key, '/'))] }

// forgetOne forgets one change that does not wait, if the maximum number of weights is
// reached. The lock must be held.
func (r *Room) forgetOne() {
	if len(r.changes) < maxWeights {
		return
	}
	for k, w := range r.changes {
		if w.since.IsZero() || r.now().Sub(w.seen) > waiterGone {
			delete(r.changes, k)
			return
		}
	}
}

// End gives the room back. done says that nothing more is wanted for the target, so that
// its weight may be forgotten.
func (t *Ticket) End(done bool) {
	t.of.mu.Lock()
	defer t.of.mu.Unlock()
	delete(t.of.admitted, t)
	t.weight = 0
	if done {
		delete(t.of.changes, t.key)
	}
}
