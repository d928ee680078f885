package render

import (
	"slices"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/fixloop"
)

// escalation describes a fix loop that gave up.
type escalation struct {
	Attempt, Max int
	Turns        int // commits in the attempt, if it had too many; otherwise 0
}

// escalationOf returns nil unless the pull request is escalated.
func escalationOf(l *fixloop.State) *escalation {
	if l.Status != fixloop.Escalated {
		return nil
	}
	e := &escalation{Attempt: l.Attempt, Max: l.Max}
	if l.Cause == fixloop.CauseTurns {
		e.Turns = l.Turns
	}
	return e
}

// hideOld hides findings that are neither new nor critical from the comment of a pull
// request that was escalated at an earlier head. The counts and the decision still
// include them.
func (r *report) hideOld() {
	l := &r.view.FixLoop
	if l.Status != fixloop.Escalated || l.Since == r.r.Facts.Head.SHA {
		return
	}
	fs := r.fs
	serious := 0
	var shown [][]*pipeline.Finding
	for i, g := range fs.groups {
		switch {
		case !slices.ContainsFunc(g, isNewOrCritical):
			fs.leftOut = append(fs.leftOut, g...)
			continue
		case i < fs.serious:
			serious++
		}
		shown = append(shown, g)
	}
	fs.groups, fs.serious = shown, serious
	r.page.renumber(fs)
}

func isNewOrCritical(f *pipeline.Finding) bool {
	return f.State == pipeline.StateNew || f.Severity == pipeline.SeverityCritical || severityOf(f) == pipeline.SeverityCritical
}

// renumber counts the shown findings that block.
func (pg *page) renumber(fs *findings) {
	pg.Waiting, pg.Serious, pg.Disputed = 0, 0, 0
	pg.number(fs.groups[:fs.serious], len(fs.groups))
}

// hiddenOld counts the findings that hideOld left out.
func (r *report) hiddenOld() safe {
	if len(r.fs.leftOut) == 0 {
		return ""
	}
	var c pipeline.Counts
	for _, f := range r.fs.leftOut {
		c.Add(severityOf(f))
	}
	return say("hidden old", struct {
		N       int
		Counts  pipeline.Counts
		Details safe
	}{c.Total(), c, r.page.Details})
}

// escalated says that a person has to look. It is empty after a decision by hand,
// because then a person has looked.
func (r *report) escalated() safe {
	if r.page.Escalated == nil || r.page.ByHand != nil {
		return ""
	}
	return say("md escalated", r.page.Escalated)
}

// attempt says which fix attempt is open, and where the blocking findings are.
func (r *report) attempt() safe {
	l := &r.view.FixLoop
	if l.Status != fixloop.Fixing {
		return ""
	}
	const maxPlaces = 10
	fs := r.fs
	var blocking []*pipeline.Finding
	for _, g := range fs.groups[:fs.serious] {
		blocking = append(blocking, g...)
	}
	places, more := each(blocking[:min(len(blocking), maxPlaces)], func(f **pipeline.Finding) safe { return fs.place(*f) }).take(r.room(roomLoop))
	more += max(0, len(blocking)-maxPlaces)
	var why word
	if last := l.Last(); last != nil && (last.Note == fixloop.NoteIncomplete || last.Note == fixloop.NotePaused || last.Note == fixloop.NoteNoModels || last.Note == fixloop.NoteDraft) {
		why = word(last.Note)
	}
	return say("md attempt", struct {
		Attempt, Max int
		Places       []safe
		More         int
		Why          word
	}{l.Attempt, l.Max, places, more, why})
}

// fixHistory has a row for each head, the newest first. It is empty if there was no
// attempt.
func (r *report) fixHistory() safe {
	l := &r.view.FixLoop
	if !slices.ContainsFunc(l.History, func(h fixloop.Row) bool { return h.Attempt > 0 }) {
		return ""
	}
	rows := slices.Clone(l.History)
	slices.Reverse(rows)
	shown, more := each(rows, r.historyRow).take(r.roomBelow(roomLoop))
	var rest safe
	if more += l.Earlier; more > 0 {
		rest = moreOf(more)
	}
	return r.wrap("heading loop", say("loop summary", struct {
		Status       word
		Attempt, Max int
	}{word(l.Status), l.Attempt, l.Max}), say("md loop", struct {
		Rows []safe
		More safe
	}{shown, rest}))
}

func (r *report) historyRow(h *fixloop.Row) safe {
	return say("md loop row", struct {
		Attempt                       int
		Head                          safe
		Spec, Quality, Decision, Note word
	}{h.Attempt, commitName(r.p, r.k, h.HeadSHA, ""), verdictWord(h.Spec), verdictWord(h.Quality), decisionWord(h.Decision), word(h.Note)})
}
