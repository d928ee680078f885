package learning

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reviewgate/reviewgate/pipeline"
)

// History is what a pull request's log says.
type History struct {
	Repository string // the newest name
	Number     int
	Reviews    []*Entry   // in the order in which they were published
	Decisions  []*Entry   // of people about heads, by time
	Findings   []Followed // in the order in which they were first found
	End        Kind       // KindClosed, KindMerged, or empty while it is open
	EndedAt    time.Time  // zero while it is open
	Overridden bool       // it was merged on a head that a person had passed by hand

	rows, ranges int // of all entries
}

// Followed is a finding with what became of it.
type Followed struct {
	Finding           // as of the last review that had it
	Outcome Outcome   // never empty
	Judged  *Entry    // what a person last said about it, if that still applies
	FirstAt time.Time // when a review showed it first or, if none did, had it first
	GoneAt  time.Time // when a review no longer had it, or the zero time
	Shown   bool      // some review showed it
	// ShownFirst is the finding as of the review of FirstAt.
	ShownFirst *Finding
	// FoundBy are the models that made it in any review, each once.
	FoundBy []Stated

	found    *Entry    // the review of FirstAt
	had      *Review   // the last review that had it, if a later one can't tell whether it is there
	lapsedAt time.Time // no dismissal before this counts
}

// FoundIn returns the review that showed the finding first or, if none did, had it first.
func (f *Followed) FoundIn() *Review { return f.found.Review }

// FalsePositive reports whether a person dismissed the finding because it is wrong.
func (f *Followed) FalsePositive() bool {
	return f.Outcome == OutcomeDismissed && f.Judged.Judged.Class == FalsePositive
}

// TruePositive reports whether the finding was right: it was fixed, or a person accepted it.
func (f *Followed) TruePositive() bool {
	return f.Outcome == OutcomeFixed || f.Outcome == OutcomeAccepted
}

// Replay reads a pull request's log. The reviews must be in the order in which they were published.
// All other entries may be in any order, and any entry may occur more than once.
func Replay(log []Entry) History {
	r := replay{ids: map[string]int{}, at: map[string]int{}}
	seen := map[string]bool{}
	var amendments []*Entry
	for i := range log {
		e := &log[i]
		if seen[e.Event] {
			continue
		}
		seen[e.Event] = true
		if e.Kind == KindReview {
			r.review(e)
			continue
		}
		amendments = append(amendments, e)
	}
	slices.SortFunc(amendments, func(a, b *Entry) int {
		return cmp.Or(a.At.Compare(b.At), compareReopened(a, b), compareEvents(a.Event, b.Event))
	})
	for _, e := range amendments {
		r.amend(e)
	}
	r.finish()
	return r.History
}

// compareReopened puts what opened a pull request again after what closed it in the same second.
func compareReopened(a, b *Entry) int {
	rank := func(e *Entry) int {
		if e.Kind == KindReopened {
			return 1
		}
		return 0
	}
	return cmp.Compare(rank(a), rank(b))
}

// compareEvents compares events of one second. GitHub's times have no fractions, but its numbers grow.
func compareEvents(a, b string) int {
	number := func(event string) int {
		n, _ := strconv.Atoi(event[strings.LastIndexByte(event, ' ')+1:])
		return n
	}
	return cmp.Or(cmp.Compare(number(a), number(b)), cmp.Compare(a, b))
}

// replay is a history while its log is read.
type replay struct {
	History
	ids map[string]int // the index of a finding, by its ID
	at  map[string]int // likewise by any fingerprint; it belongs to the finding that had it last
}

func (r *replay) review(e *Entry) {
	r.Reviews = append(r.Reviews, e)
	r.Repository, r.Number = e.Repository, e.Number
	r.rows += len(e.Review.Findings)
	for i := range e.Review.Asked {
		r.ranges += len(e.Review.Asked[i].Lines)
	}
	for i := range e.Review.Findings {
		r.finding(e, &e.Review.Findings[i])
	}
}

// finding applies what a review says about a finding.
func (r *replay) finding(e *Entry, f *Finding) {
	at, known := r.ids[f.ID]
	if !known {
		at = len(r.Findings)
		r.Findings = append(r.Findings, Followed{FirstAt: e.At, ShownFirst: f, found: e})
		r.ids[f.ID] = at
	}
	x := &r.Findings[at]
	if f.Status != StatusUnknown {
		x.had = nil
	} else if n := len(r.Reviews); x.had == nil && n > 1 {
		x.had = r.Reviews[n-2].Review
	}
	x.Finding = *f
	if shown := f.Status != StatusUnshown && f.Status != StatusJoined; shown && !x.Shown {
		x.Shown, x.FirstAt, x.ShownFirst, x.found = true, e.At, f, e
	}
	if f.Lapsed {
		x.lapsedAt = e.At
	}
	switch f.Status {
	case StatusOpen, StatusUnshown, StatusUnknown:
		x.GoneAt = time.Time{}
	default:
		x.GoneAt = e.At
	}
	if f.Status == StatusJoined {
		return // its fingerprints belong to the other one
	}
	for _, m := range f.Models {
		if !slices.ContainsFunc(x.FoundBy, func(o Stated) bool { return o.Model == m.Model }) {
			x.FoundBy = append(x.FoundBy, m)
		}
	}
	r.at[f.ID] = at
	for _, id := range f.Also {
		r.at[id] = at
	}
}

// amend applies an amendment. Amendments come in order of time, so that the last word counts.
func (r *replay) amend(e *Entry) {
	if r.Repository == "" {
		r.Repository, r.Number = e.Repository, e.Number
	}
	switch e.Kind {
	case KindJudged:
		for _, id := range e.Judged.Findings {
			at, known := r.at[id]
			if !known {
				continue
			}
			x := &r.Findings[at]
			if x.Judged = e; e.Judged.Verdict == Restored {
				x.Judged = nil
			}
		}
	case KindDecided:
		r.Decisions = append(r.Decisions, e)
	case KindClosed, KindReopened:
		if r.End != KindMerged { // which is the end
			r.End, r.EndedAt = e.Kind, e.At
		}
	case KindMerged:
		r.End, r.EndedAt = e.Kind, e.At
	}
}

func (r *replay) finish() {
	if r.End == KindReopened {
		r.End, r.EndedAt = "", time.Time{}
	}
	r.Findings = slices.DeleteFunc(r.Findings, func(f Followed) bool { return f.Status == StatusJoined })
	r.Overridden = r.End == KindMerged && r.overridden()
	for i := range r.Findings {
		x := &r.Findings[i]
		if x.Judged != nil && !x.stands(x.Judged) {
			x.Judged = nil
		}
		x.Outcome = r.outcome(x)
	}
}

// overridden reports whether a person had passed the newest head by hand when it was merged.
func (r *replay) overridden() bool {
	if len(r.Reviews) == 0 {
		return false
	}
	last := r.Reviews[len(r.Reviews)-1].Review
	var standing Action
	for _, e := range r.Decisions {
		d := e.Decided
		if (d.Action == Overrode || d.Action == Rejected) && d.HeadSHA == last.HeadSHA && d.BaseRef == last.BaseRef && !e.At.After(r.EndedAt) {
			standing = d.Action
		}
	}
	return standing == Overrode
}

// stands reports whether a judgement is about the finding as it is or, if it is gone, as it was last:
// the code around it is the same.
func (f *Followed) stands(e *Entry) bool {
	j := e.Judged
	if e.At.Before(f.lapsedAt) {
		return false
	}
	if f.Around == "" {
		return true
	}
	for i, id := range j.Findings {
		if id != f.ID && !slices.Contains(f.Also, id) {
			continue
		}
		if i >= len(j.Around) || j.Around[i] == "" || j.Around[i] == pipeline.SurroundingsUnknown || j.Around[i] == f.Around {
			return true
		}
	}
	return false
}

// outcome returns what became of a finding: the first that holds.
func (r *replay) outcome(f *Followed) Outcome {
	switch {
	case f.Judged != nil && f.Judged.Judged.Verdict == Dismissed:
		return OutcomeDismissed
	case f.Judged != nil:
		return OutcomeAccepted
	}
	switch f.Status {
	case StatusWithdrawn:
		return OutcomeWithdrawn
	case StatusObsolete:
		return OutcomeObsolete
	case StatusFixed:
		return OutcomeFixed
	case StatusNotRaised:
		return OutcomeNotRaised
	case StatusUnshown:
		return OutcomeUnshown
	}
	switch {
	case r.End == KindMerged && r.Overridden && f.Blocks():
		return OutcomeOverridden
	case r.End == KindMerged:
		return OutcomeMergedOpen
	case r.End == KindClosed:
		return OutcomeClosed
	}
	return OutcomeOpen
}
