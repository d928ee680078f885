package fixloop

import (
	"maps"
	"slices"

	"github.com/reviewgate/reviewgate/pipeline"
)

// Settings are the limits of the loop.
type Settings struct {
	Attempts int // 1 to 5
	Turns    int // commits in one attempt, 5 to 30
	Never    bool
	// Always says that failing reports count even if no model took part.
	Always bool
}

// Report has everything that the loop reads of a finished review.
type Report struct {
	HeadSHA  string
	Decision pipeline.Decision
	// ByHand says that a person passed the head despite the gate's decision.
	ByHand bool
	// Incomplete says that something is missing that the gate needs.
	Incomplete bool
	// Paused says that only the pause of a session of coding agents keeps the head from passing.
	Paused        bool
	Models        bool // whether models took part
	Draft         bool // a draft may fail
	Spec, Quality pipeline.Verdict
	Commits       []pipeline.Commit
	Resumes       int // how many times a person has resumed the loop so far
}

// ReportOf returns the part of a review that the loop reads.
func ReportOf(r *pipeline.Review, resumes int) Report {
	rep := &r.Report
	out := Report{
		HeadSHA: r.Facts.Head.SHA, Decision: rep.Decision, Commits: r.Facts.Commits, Resumes: resumes, Draft: r.Facts.Draft,
		ByHand:     rep.ByHand != nil && rep.ByHand.Action == pipeline.HandOverride,
		Incomplete: slices.ContainsFunc(rep.Incomplete, func(i pipeline.Incompleteness) bool { return i.Gating }),
		Paused:     rep.Session != nil && rep.Session.Decides,
	}
	if m := rep.Models; m != nil {
		out.Models = true
		for _, v := range m.Verdicts {
			out.Spec, out.Quality = worse(out.Spec, v.Spec), worse(out.Quality, v.Quality)
		}
	}
	return out
}

// worse returns the worse of two models' verdicts.
func worse(a, b pipeline.Verdict) pipeline.Verdict {
	for _, v := range []pipeline.Verdict{pipeline.VerdictFail, pipeline.VerdictUnknown, pipeline.VerdictPass} {
		if a == v || b == v {
			return v
		}
	}
	return pipeline.VerdictNone
}

// Next returns the state after a finished review. It does not change s. If the settings switch the
// loop off, the state is reset.
func Next(s State, r Report, set Settings) State {
	if set.Never {
		return State{Resumes: r.Resumes}
	}
	counts := set.Always || r.Models
	if len(s.History) == 0 && (!counts || r.Draft) {
		return State{Resumes: r.Resumes}
	}
	s = s.clone()
	s.Max, s.JustEscalated = set.Attempts, false
	anew := s.resume(r.Resumes)
	s.turns(r.Commits)
	row := Row{HeadSHA: r.HeadSHA, Spec: r.Spec, Quality: r.Quality, Decision: r.Decision}
	counted := slices.Index(s.Failed, r.HeadSHA)
	if counted >= 0 && r.HeadSHA != s.Since {
		row.Attempt = counted + 1
	}
	switch {
	case !r.Decision.Blocks():
		s.pass(r.ByHand)
		if r.ByHand {
			row.Note = NoteByHand
		}
	case r.Incomplete:
		row.Note = NoteIncomplete
	case r.Paused:
		row.Note = NotePaused
	case counted >= 0:
		s.stand(&row)
	case !counts:
		row.Note = NoteNoModels
	case r.Draft:
		row.Note = NoteDraft
	default:
		s.fail(r.HeadSHA, set, &row)
	}
	if anew && row.Note == "" {
		row.Note = NoteResumed
	}
	s.note(row, anew)
	return s
}

// resume ends the halt if a person has resumed the loop since. It reports whether a new count
// begins. If a new count began before, it simply continues.
func (s *State) resume(times int) (anew bool) {
	if s.Halted && times > s.Resumes {
		anew, s.Halted = s.Since != "", false
	}
	s.Resumes = times
	if anew {
		s.beginAnew()
	}
	return anew
}

// pass completes the loop. If the gate passed the head, this is final, and the next failing report
// opens attempt 1.
func (s *State) pass(byHand bool) {
	s.Status, s.ByHand = Complete, byHand
}

// fail counts the failing report of a head that has not counted before.
func (s *State) fail(head string, set Settings, row *Row) {
	if s.Status == Complete && !s.ByHand {
		s.beginAnew()
	}
	s.ByHand = false
	if s.Since != "" {
		s.Status, row.Note = Escalated, NoteEscalated
		return
	}
	s.Failed = append(s.Failed, head)
	switch {
	case s.Turns > set.Turns:
		s.Cause = CauseTurns
	case len(s.Failed) > set.Attempts:
		s.Cause = CauseAttempts
	default:
		s.Status, s.Attempt, s.Turns = Fixing, len(s.Failed), 0
		row.Attempt = s.Attempt
		return
	}
	s.Status, s.Since, s.JustEscalated, s.Halted = Escalated, head, true, true
	row.Note = NoteEscalated
}

// stand restores the state after a head that has counted before.
func (s *State) stand(row *Row) {
	s.Status, s.ByHand = Fixing, false
	if s.Since != "" {
		s.Status = Escalated
	}
	row.Note = NoteAgain
	if row.HeadSHA == s.Since {
		row.Note = NoteEscalated
	}
}

// beginAnew starts a new count. Seen commits stay seen.
func (s *State) beginAnew() {
	s.Status, s.Attempt, s.Turns, s.ByHand = Pending, 0, 0, false
	s.Failed, s.Since, s.Cause = nil, "", ""
}

// note adds a row to the history. If a head is reviewed again, its row is replaced, unless a new
// count began.
func (s *State) note(row Row, anew bool) {
	if last := s.Last(); last != nil && last.HeadSHA == row.HeadSHA && !anew {
		if row.Note == NoteAgain {
			row.Note = ""
			if last.Note == NoteResumed {
				row.Note = NoteResumed
			}
		}
		*last = row
		return
	}
	s.History = append(s.History, row)
	if more := len(s.History) - MaxHistory; more > 0 {
		s.History, s.Earlier = slices.Clone(s.History[more:]), s.Earlier+more
	}
}

func (s State) clone() State {
	s.Failed, s.History, s.Seen = slices.Clone(s.Failed), slices.Clone(s.History), maps.Clone(s.Seen)
	return s
}
