package render

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/aggregate"
)

// The functions of this file put the session of coding agents into words: whether the agents must
// wait, why, and what each reviewer answered.

// who holds names for a sentence, such as "codex, gemini and 3 more".
type who struct {
	Names safe
	N     int // how many there are, at least 1
}

// whoOf lists at most three names, and cuts long ones, because a title has little room. Without names it
// returns "a reviewer".
func whoOf(p pen, names []string) who {
	const maxNames, maxWho = 3, 40
	var out struct {
		Names []safe
		Last  safe
		More  int
	}
	for _, name := range names[:min(len(names), maxNames)] {
		out.Names = append(out.Names, p.text(name, maxWho))
	}
	switch out.More = len(names) - len(out.Names); {
	case len(names) == 0:
		out.Last = say("a reviewer", nil)
	case out.More == 0:
		last := len(out.Names) - 1
		out.Names, out.Last = out.Names[:last], out.Names[last]
	}
	return who{say("names", out), max(1, len(names))}
}

// sessionPage holds the values for the phrases about the session in the title, in the alerts and in
// the next step.
type sessionPage struct {
	Paused     bool
	Leads      bool       // whether the title begins with the pause
	Escalation *pauseLine // by rule 1
	Pause      *pauseLine // by rule 0 or 2
	Reasons    []safe     // why it is paused
	Open       *who       // the reviewers with open concerns, if it is not paused
}

// pauseLine says who paused a session.
type pauseLine struct {
	who
	Rule  int
	Since int // the cycle, if it is not the newest one
}

// sessionOf fills in the session, if there is one.
func (pg *page) sessionOf(r *pipeline.Report, p pen) {
	if r.Session == nil {
		return
	}
	st := &r.Session.State
	s := &sessionPage{Paused: st.Paused(), Escalation: pauseOf(st.Escalation, r.Session.Cycle, p), Pause: pauseOf(st.Pause, r.Session.Cycle, p)}
	for _, by := range []*pauseLine{s.Escalation, s.Pause} {
		if by != nil {
			s.Reasons = append(s.Reasons, say("paused by", by))
		}
	}
	switch {
	case pg.ByHand != nil:
		s.Leads = s.Paused && pg.ByHand.Passed // which does not resume it
	case pg.Verdict != word(pipeline.DecisionFail) && pg.Escalated == nil:
		s.Leads = s.Paused
	}
	if !s.Paused {
		var names []string
		for i := range st.Concerns {
			names = append(names, st.Concerns[i].Reviewer)
		}
		s.Open = whoseOf(p, names)
	}
	pg.Session = s
}

// pauseOf returns nil if there is no pause. newest is the newest cycle.
func pauseOf(pause *pipeline.SessionPause, newest int, p pen) *pauseLine {
	if pause == nil {
		return nil
	}
	out := &pauseLine{who: whoOf(p, pause.Reviewers), Rule: pause.Rule}
	if pause.Cycle != newest {
		out.Since = pause.Cycle
	}
	return out
}

// awaited says whose answers a review waits for.
type awaited struct {
	who
	Until safe // empty if it is not known
	Only  bool // nothing else is missing
}

// awaitedOf returns nil if the gate waits for no answer.
func awaitedOf(r *pipeline.Review, p pen) *awaited {
	rep := &r.Report
	out := &awaited{Only: true}
	n := 0
	for _, i := range rep.Incomplete {
		switch {
		case !i.Gating:
		case i.What == pipeline.IncompleteAnswer:
			n++
		default:
			out.Only = false
		}
	}
	if n == 0 {
		return nil
	}
	var names []string
	if rep.Session != nil {
		names = slices.Clone(rep.Session.Waiting)
	}
	for i := range rep.Coverage {
		c := &rep.Coverage[i]
		e := r.Manifest.Entry(c.Agent)
		if c.Status == pipeline.AgentWaiting && (e == nil || e.Required) && !slices.Contains(names, c.Agent) {
			names = append(names, c.Agent)
		}
	}
	var until time.Time
	for _, name := range names {
		if a := r.Session.Of(name); a != nil && a.Deadline.After(until) {
			until = a.Deadline
		}
	}
	if until.IsZero() && rep.Session != nil {
		until = rep.Session.Deadline
	}
	out.who, out.Until = whoOf(p, names), deadline(r.Session, until, p)
	return out
}

// deadline writes a time of day in UTC, with the date unless the cycle began on the same day.
func deadline(s *pipeline.Session, at time.Time, p pen) safe {
	if at.IsZero() {
		return ""
	}
	layout := "15:04 UTC on 2 January"
	if s == nil || s.Cycle == nil || s.Cycle.BegunAt.IsZero() || s.Cycle.BegunAt.UTC().Format(time.DateOnly) == at.UTC().Format(time.DateOnly) {
		layout = "15:04 UTC"
	}
	return p.text(at.UTC().Format(layout), maxName)
}

// bySession reports whether only the session keeps the gate from passing.
func bySession(r *pipeline.Report) bool {
	switch r.Gate.Condition {
	case aggregate.SessionEscalated, aggregate.SessionPaused, aggregate.SessionUnheard:
		return true
	}
	return false
}

// findingsBlock reports whether the decision blocks because of the review, and not because of the
// session alone.
func findingsBlock(r *pipeline.Report) bool { return r.Decision.Blocks() && !bySession(r) }

// personForm matches logins on GitHub, and teams as "org/team-slug".
var personForm = regexp.MustCompile(`^[A-Za-z0-9](?:[A-Za-z0-9-]{0,37}[A-Za-z0-9])?(?:/[a-z0-9][a-z0-9_-]{0,99})?$`)

// mentioned mentions a person or a team. Any other name stays plain text.
func mentioned(p pen, name string) safe {
	if !personForm.MatchString(name) {
		return p.text(name, maxName)
	}
	return "@" + safe(name)
}

// paused says that the session is paused, why, and what ends that. If a blocker pauses it, people are
// mentioned, except in advisory mode.
func (r *report) paused() safe {
	if r.page.Session == nil || !r.page.Session.Paused {
		return ""
	}
	out := struct {
		*sessionPage
		Advisory     bool
		People, Said []safe
	}{sessionPage: r.page.Session, Advisory: r.page.Advisory}
	if r.page.Session.Escalation != nil && !r.page.Advisory {
		people, more := each(r.view.People, func(name *string) safe { return mentioned(r.p, *name) }).take(r.room(roomPeople))
		if out.People = people; more > 0 {
			out.People = append(out.People, moreOf(more))
		}
	}
	said, more := sessionWords{r.sections}.blockers().take(r.room(roomBlockers))
	if out.Said = said; more > 0 {
		out.Said = append(out.Said, r.more(more))
	}
	return say("md paused", out)
}

// sessionWords puts the answers of a session's reviewers into words.
type sessionWords struct{ sections }

// blockers says what the blockers are, in the words of those who found them.
func (sw sessionWords) blockers() items {
	rep := sw.r.Report.Session
	e := rep.State.Escalation
	if e == nil || e.Cycle != rep.Cycle {
		return items{}
	}
	var said []pipeline.SessionReviewer
	for _, x := range rep.Reviewers {
		if x.Verdict == pipeline.SessionBlocker && x.Summary != "" && !x.Model {
			said = append(said, x)
		}
	}
	return each(said, func(x *pipeline.SessionReviewer) safe {
		return say("blocker said", struct{ Reviewer, Summary safe }{sw.p.text(x.Reviewer, maxName), sw.p.text(x.Summary, maxReason)})
	})
}

// awaited says until when the review waits for answers. It is empty if anything else is missing,
// because the list of what is missing then includes the answers.
func (r *report) awaited() safe {
	if a := r.page.Awaited; a == nil || !a.Only || r.page.Session != nil && r.page.Session.Paused {
		return ""
	}
	return say("md awaited", r.page.Awaited)
}

// sessionRow is a reviewer's part in a cycle.
type sessionRow struct {
	Reviewer      safe
	Model, Late   bool
	State         word // see pipeline.AskedState
	Verdict       word // empty if unknown
	Issues        int
	Until         safe
	Summary, Head safe // Summary is the reason if there is no answer; Head is the head of an outdated answer
}

// maxSummary bounds a reviewer's summary in a table, in runes.
const maxSummary = 240

func (sw sessionWords) row(x *pipeline.SessionReviewer) sessionRow {
	row := sessionRow{
		Reviewer: sw.cell(x.Reviewer), Model: x.Model, Late: x.Late, State: word(pipeline.AskedMissing), Issues: x.Issues,
		Head: sw.p.code(shortSHA(x.HeadSHA), maxName), Verdict: sessionVerdict(x.Verdict),
	}
	if row.Model {
		row.Issues = 0 // its summary counts its findings
	}
	summary := x.Summary
	switch x.State {
	case pipeline.AskedAnswered:
		row.State = word(x.State)
	case pipeline.AskedWaiting:
		row.State, summary = word(x.State), ""
		row.Until = deadline(sw.r.Session, sw.r.Report.Session.Deadline, sw.p)
	default:
		summary = x.Note
	}
	row.Summary = sw.p.text(strings.ReplaceAll(summary, "|", "¦"), maxSummary)
	return row
}

func sessionVerdict(v pipeline.SessionVerdict) word {
	switch v {
	case pipeline.SessionApproved, pipeline.SessionConcerns, pipeline.SessionBlocker:
		return word(v)
	}
	return ""
}

// urgency orders reviewers: those who pause the session come first.
func urgency(x *pipeline.SessionReviewer) int {
	switch {
	case x.State == pipeline.AskedAnswered && x.Verdict == pipeline.SessionBlocker:
		return 0
	case x.State == pipeline.AskedAnswered && x.Verdict == pipeline.SessionConcerns:
		return 1
	case x.State == pipeline.AskedWaiting:
		return 3
	case x.State == pipeline.AskedAnswered:
		return 4
	}
	return 2
}

// reviewers lists the reviewers who were asked.
func (sw sessionWords) reviewers(layout string) items {
	list := slices.Clone(sw.r.Report.Session.Reviewers)
	slices.SortStableFunc(list, func(a, b pipeline.SessionReviewer) int { return cmp.Compare(urgency(&a), urgency(&b)) })
	return each(list, func(x *pipeline.SessionReviewer) safe { return say(layout, sw.row(x)) })
}

// head says which cycle it is, what started it, and what was decided.
func (sw sessionWords) head() safe {
	rep, in := sw.r.Report.Session, sw.r.Session
	out := struct {
		Cycle            int
		Events           []word // of agents
		Person, Fallback bool
		Targets          *who
		Decided          bool
		Rule             int
		Lifted           bool // a person has ended the pause by the rule
		ResumedBy        safe
		Elsewhere        safe // the head of the decision, if nobody was asked about this one
	}{Cycle: rep.Cycle, Decided: rep.Decided, Rule: rep.Rule, Lifted: lifted(rep), ResumedBy: sw.p.text(rep.ResumedBy, maxName)}
	if in != nil && in.Cycle != nil {
		for _, t := range in.Cycle.Triggers {
			switch t {
			case pipeline.TriggerMilestone, pipeline.TriggerBlocker, pipeline.TriggerRequestReview:
				out.Events = append(out.Events, word(t))
			case pipeline.TriggerPerson:
				out.Person = true
			case pipeline.TriggerFallback:
				out.Fallback = true
			}
		}
		out.Targets = whoseOf(sw.p, in.Cycle.Targets)
	} else if head := rep.State.HeadSHA; head != sw.r.Facts.Head.SHA {
		out.Elsewhere = commitName(sw.p, sw.k, head, "")
	}
	return say("session head", out)
}

// notes lists open concerns of earlier cycles, and answers that came too late to count.
func (sw sessionWords) notes() items {
	rep := sw.r.Report.Session
	open := slices.DeleteFunc(slices.Clone(rep.State.Concerns), func(c pipeline.SessionConcern) bool {
		return slices.ContainsFunc(rep.Reviewers, func(x pipeline.SessionReviewer) bool {
			return x.Reviewer == c.Reviewer && x.State == pipeline.AskedAnswered && x.Verdict == pipeline.SessionConcerns
		})
	})
	return each(open, func(c *pipeline.SessionConcern) safe {
		return say("session concern", struct {
			Reviewer, Summary safe
			Cycle             int
		}{sw.p.text(c.Reviewer, maxName), sw.p.text(c.Summary, maxSummary), c.Cycle})
	}).then(each(rep.Outdated, func(x *pipeline.SessionReviewer) safe { return say("session outdated", sw.row(x)) }))
}

// lifted reports whether a person has ended the pause by the rule that decided.
func lifted(rep *pipeline.SessionReport) bool {
	return rep.Rule >= 0 && rep.Rule <= 2 && !rep.State.Paused()
}

// sessionPart is not collapsed unless all is well, because the answers decide whether work continues.
func (r *report) sessionPart() safe {
	rep := r.r.Report.Session
	if rep == nil {
		return ""
	}
	sw := sessionWords{r.sections}
	rows, more := sw.reviewers("md session row").take(r.roomBelow(roomSession))
	notes, moreNotes := sw.notes().take(r.roomBelow(roomSessionNotes))
	if moreNotes > 0 {
		notes = append(notes, r.more(moreNotes))
	}
	body := blocks([]safe{say("md session", struct {
		Head  safe
		Rows  []safe
		More  safe
		Notes []safe
	}{sw.head(), rows, r.more(more), notes}), r.clarification()})
	if rep.State.Paused() || rep.Flagged || len(rep.Waiting) > 0 || len(rep.Outdated) > 0 {
		return section("heading session", body)
	}
	return r.wrap("heading session", say("session summary", struct {
		Rule            int
		Decided, Lifted bool
	}{rep.Rule, rep.Decided, lifted(rep)}), body)
}

// clarification returns the prompt for the agents, ready to be copied. Its text can't end its block, and
// none of its lines can be mistaken for the heading of the machine-readable section.
func (r *report) clarification() safe {
	pause := r.r.Report.Session.State.Pause
	if pause == nil || pause.Clarification == "" {
		return ""
	}
	const maxLine = 2000
	shown, more := each(codeLines(pause.Clarification), func(line *string) safe { return safe(codeLine(*line, maxLine)) }).take(r.roomBelow(roomClarification))
	text := make([]string, 0, len(shown)+1)
	for _, line := range shown {
		if strings.HasPrefix(string(line), "#") {
			line = " " + line
		}
		text = append(text, string(line))
	}
	if more > 0 {
		text = append(text, string(moreOf(more)))
	}
	return r.wrap("heading prompt", say("prompt summary", nil), r.p.block("text", text))
}

// session shows the same in the terminal, without the prompt.
func (t *terminal) session() {
	if t.r.Report.Session == nil {
		return
	}
	sw := sessionWords{t.sections}
	t.heading(say("heading session", nil))
	t.put("", sw.head(), styleNone)
	t.items(sw.reviewers("text session row").then(sw.notes()))
}
