package memory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/reviewgate/reviewgate/app/backtest"
	"github.com/reviewgate/reviewgate/app/internal/panics"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/replay"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/plaintext"
	"github.com/reviewgate/reviewgate/pipeline/run"
	"github.com/reviewgate/reviewgate/policies/learning"
	"github.com/reviewgate/reviewgate/policies/memory"
)

// Tester finds out what a record would have hidden in earlier reviews.
type Tester struct {
	Archive   ports.Archive
	Backtests ports.Backtests
	Learning  ports.Learning
	Memory    ports.MemoryReader
	Runner    *run.Runner
	Now       func() time.Time

	running sync.Mutex // one at a time, beside the reviews of the process
}

const (
	triedDays = 90
	triedMost = 500
	triedFor  = 10 * time.Second
	// triedGrace is extra time for the review that is being computed when the time is over.
	triedGrace = 20 * time.Second
	// busyWait is how long a command waits for another one's trial.
	busyWait = 5 * time.Second
	maxNamed = 5
	// maxFound bounds the hidden findings that are looked up.
	maxFound = 1000
)

// errBusy says that another record is being tried.
var errBusy = errors.New("another record of memory is being tried on earlier reviews")

// Trial is what a record would have done in earlier reviews.
type Trial struct {
	Days    int
	Reviews int // that were computed or needed no computing
	Of      int // the chosen ones
	Failed  int // that could not be computed, or were altered since they were stored
	// Compared counts those of Reviews in which the record matches something.
	Compared int
	// Stopped says that there was no time for the other reviews, or that the record had already hidden
	// too much.
	Stopped bool
	// Hidden are findings that the record would have hidden although somebody fixed or accepted them,
	// up to maxNamed. More counts the others of the repository, and Elsewhere those of the
	// organisation's other repositories.
	Hidden    []Hidden
	More      int
	Elsewhere int
}

// Hides reports whether the record would have hidden a finding that was right.
func (t *Trial) Hides() bool { return len(t.Hidden)+t.Elsewhere > 0 }

// Inconclusive reports whether the reviews that might speak against the record were not compared: the
// trial stopped early, they failed, or they are gone.
func (t *Trial) Inconclusive() bool {
	return t.Stopped || t.Failed > 0 && t.Compared == 0 || t.Of > 0 && t.Reviews == 0
}

// Hidden is a finding that a record would have hidden.
type Hidden struct {
	Pull    string // such as #104
	Finding string // its ID
	Title   string
	Outcome learning.Outcome // fixed or accepted
}

// Try computes the newest reviews of the last 90 days with and without a record, each beside the
// records that are active today, and looks up what became of the findings that only the computation
// without it has. It starts no review after 10 s, and ends after 30 s at the latest.
func (x *Tester) Try(ctx context.Context, r *ports.MemoryRecord) (out Trial, err error) {
	if !x.running.TryLock() {
		return out, &ports.RetryError{After: busyWait, Err: errBusy}
	}
	defer x.running.Unlock()
	begun := x.Now()
	chosen, err := x.Backtests.ChooseAllReviews(ctx, r.Repository, r.Organisation, begun.AddDate(0, 0, -triedDays), triedMost)
	if err != nil {
		return out, err
	}
	out.Days, out.Of = triedDays, len(chosen.Heads)
	if out.Of == 0 {
		return out, nil
	}
	bounded, cancel := context.WithTimeout(ctx, triedFor+triedGrace)
	defer cancel()
	t := trial{Tester: x, record: r, replayer: replay.New(x.Runner), others: map[int64][]pipeline.FalsePositive{}, compared: map[ports.ChosenHead]bool{}, hidden: map[string][]hiddenIn{}}
	t.about = r.About
	t.about.Record = r.Name()
	t.set = memory.New([]pipeline.FalsePositive{t.about})
	computed, failed := map[ports.ChosenHead]bool{}, map[ports.ChosenHead]bool{}
	for s, err := range replay.Ahead(bounded, backtest.Chosen{Archive: x.Archive, Reviews: chosen}, ports.ReviewFilter{}) {
		var altered *ports.AlteredError
		switch {
		case errors.As(err, &altered):
			out.Failed++
			continue
		case err != nil && bounded.Err() != nil && ctx.Err() == nil: // the time is over
		case err != nil:
			return out, err
		}
		if out.Stopped = err != nil || x.Now().Sub(begun) >= triedFor || t.found >= maxFound; out.Stopped {
			break
		}
		head := ports.ChosenHead{Key: s.Key, HeadSHA: s.HeadSHA}
		if err := panics.Guard(func() error { return t.one(bounded, s) }); err != nil {
			if cause := context.Cause(ctx); cause != nil {
				return out, cause
			}
			failed[head] = true
			continue
		}
		computed[head] = true
	}
	for head := range failed {
		delete(computed, head)
	}
	out.Reviews, out.Failed, out.Compared = len(computed), out.Failed+len(failed), len(t.compared)
	err = t.lookUp(bounded, &out)
	if err != nil && bounded.Err() != nil && ctx.Err() == nil { // the time is over
		out.Stopped, err = true, nil
	}
	return out, err
}

// trial is a Try while it runs.
type trial struct {
	*Tester
	record   *ports.MemoryRecord
	replayer *replay.Replayer
	about    pipeline.FalsePositive
	set      *memory.Set
	others   map[int64][]pipeline.FalsePositive // by repository: what is active today, without the record
	hidden   map[string][]hiddenIn              // by target, each finding once
	order    []string                           // the keys of hidden
	found    int
	compared map[ports.ChosenHead]bool // computed with and without the record
}

type hiddenIn struct {
	finding pipeline.Finding
	repoID  int64
	pull    string
}

// matches reports whether the record is about anything in a review: a finding of its report, or one
// that a model made and that another finding absorbed.
func (t *trial) matches(v *pipeline.Review) bool {
	is := func(f *pipeline.Finding) bool {
		return len(t.set.Matching(f, servicesOf(&v.Classification, f.Path))) > 0
	}
	if slices.ContainsFunc(v.Report.Findings, func(f pipeline.Finding) bool { return is(&f) }) {
		return true
	}
	return slices.ContainsFunc(v.Results, func(r pipeline.AgentResult) bool {
		return r.Model != "" && slices.ContainsFunc(r.Output.Findings, func(f pipeline.Finding) bool {
			f.Agent, f.Model = cmp.Or(f.Agent, r.Agent), r.Model
			return is(&f)
		})
	})
}

// active lists the records that are active today in the repository of a review, without the one that is
// tried.
func (t *trial) active(ctx context.Context, repoID int64) ([]pipeline.FalsePositive, error) {
	if known, ok := t.others[repoID]; ok {
		return known, nil
	}
	in := t.record.Repository
	in.RepoID = repoID
	all, err := t.Memory.MemoryRecords(ctx, ports.MemoryFilter{Holding: in, States: []ports.MemoryState{ports.MemoryActive}, Newest: maxRecords})
	if err != nil {
		return nil, fmt.Errorf("read the records of memory: %w", err)
	}
	others := []pipeline.FalsePositive{}
	for i := range all {
		if r := &all[i]; r.Models && r.ID != t.record.ID {
			about := r.About
			about.Record = r.Name()
			others = append(others, about)
		}
	}
	t.others[repoID] = others
	return others, nil
}

// one computes a review with and without the record, if the record matches anything in it.
func (t *trial) one(ctx context.Context, s *ports.StoredReview) error {
	v := s.Review
	if !t.matches(&v) {
		return nil
	}
	cfg, err := t.replayer.ConfigOf(s)
	if err != nil {
		return err
	}
	others, err := t.active(ctx, s.RepoID)
	if err != nil {
		return err
	}
	v.Memory.Accepted = nil // what somebody accepted is never hidden, but it might have been before
	v.Memory.FalsePositives = others
	without, err := t.Runner.Replay(ctx, &v, cfg)
	if err != nil {
		return fmt.Errorf("compute a review without %s: %w", t.record.Name(), err)
	}
	v.Memory.FalsePositives = append(slices.Clone(others), t.about)
	with, err := t.Runner.Replay(ctx, &v, cfg)
	if err != nil {
		return fmt.Errorf("compute a review with %s: %w", t.record.Name(), err)
	}
	for _, f := range pipeline.OnlyIn(without.Findings, with.Findings) {
		if len(t.hidden[s.Key]) == 0 {
			t.order = append(t.order, s.Key)
		}
		if !slices.ContainsFunc(t.hidden[s.Key], func(in hiddenIn) bool { return in.finding.ID == f.ID }) {
			t.found++
			t.hidden[s.Key] = append(t.hidden[s.Key], hiddenIn{f, s.RepoID, fmt.Sprintf("#%d", v.Facts.Number)})
		}
	}
	t.compared[ports.ChosenHead{Key: s.Key, HeadSHA: s.HeadSHA}] = true
	return nil
}

// lookUp finds the hidden findings that were right, by the logs of their pull requests.
func (t *trial) lookUp(ctx context.Context, out *Trial) error {
	for _, key := range t.order {
		log, err := t.Learning.Log(ctx, key)
		if err != nil {
			return err
		}
		h := learning.Replay(log)
		told := map[string]bool{}
		for i := range h.Findings {
			x := &h.Findings[i]
			if !x.TruePositive() || told[x.ID] {
				continue
			}
			in, hidden := t.hiddenOf(key, x)
			if !hidden {
				continue
			}
			told[x.ID] = true
			switch {
			case in.repoID != t.record.Repository.RepoID:
				out.Elsewhere++
			case len(out.Hidden) == maxNamed:
				out.More++
			default:
				out.Hidden = append(out.Hidden, Hidden{Pull: in.pull, Finding: x.ID, Title: plaintext.CutLine(in.finding.Title, maxTitle), Outcome: x.Outcome})
			}
		}
	}
	return nil
}

// hiddenOf returns the hidden finding that a log is about. Any fingerprint identifies it.
func (t *trial) hiddenOf(key string, x *learning.Followed) (hiddenIn, bool) {
	for _, in := range t.hidden[key] {
		ids := append([]string{in.finding.ID}, in.finding.Fingerprints...)
		if slices.Contains(ids, x.ID) || slices.ContainsFunc(x.Also, func(id string) bool { return slices.Contains(ids, id) }) {
			return in, true
		}
	}
	return hiddenIn{}, false
}
