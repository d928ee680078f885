package harness

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // to read the database while the servers use it

	"github.com/reviewgate/reviewgate/app/internal/store"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
)

const day = 24 * time.Hour

// open opens the database for reading, while the servers use it.
func (w *world) open() (*sql.DB, error) {
	if path, ok := strings.CutPrefix(w.url, "sqlite://"); ok {
		return sql.Open("sqlite", "file:"+path+"?mode=ro&_pragma=busy_timeout(5000)")
	}
	return sql.Open("pgx", w.url)
}

// settled reports whether nothing is in progress in the sessions of open pull requests: all events and
// answers were sent, no cycle is undecided, and no timer runs.
func (a *agents) settled(w *world, pulls []*pull) bool {
	if a == nil {
		return true
	}
	a.talks.Wait()
	for _, r := range w.reviewers {
		r.posts.Wait()
	}
	var open []string
	for _, p := range pulls {
		if p.open {
			open = append(open, "'"+p.key()+"'")
		}
	}
	if len(open) == 0 {
		return true
	}
	db, err := w.open()
	if err != nil {
		w.t.Error(err)
		return true
	}
	defer db.Close()
	var busy int
	err = db.QueryRowContext(w.t.Context(), `SELECT count(*) FROM sessions WHERE (running = 1 AND stalled = 0 OR due_at > 0) AND target_key IN (`+strings.Join(open, ", ")+`)`).Scan(&busy)
	return err == nil && busy == 0
}

func (p *pull) key() string { return fmt.Sprintf("pull/%d/%d", p.repo.ID(), p.Number) }

// history is all that is stored about the session of one pull request.
type history struct {
	row      *storedSession // nil if there is no session
	events   map[string]int // the cycle of each event, by "agent/id"
	requests map[string]*storedRequest
	reviews  []publishedReview // oldest first
	begun    map[int]*pipeline.SessionCycle
}

type publishedReview struct {
	*ports.StoredReview
	at time.Time // when it was published
}

type storedSession struct {
	cycle   pipeline.SessionCycle
	state   pipeline.SessionState
	stalled bool
	running bool
	head    string // that reviewers were asked about
	resumes int
}

type storedRequest struct {
	kind, reviewer, head, state, note string
	cycle                             int
	answer                            *pipeline.SessionAnswer
	outdated                          bool
}

// histories reads what is stored about sessions.
func (w *world) histories() (map[string]*history, error) {
	all := map[string]*history{}
	of := func(key string) *history {
		if all[key] == nil {
			all[key] = &history{events: map[string]int{}, requests: map[string]*storedRequest{}, begun: map[int]*pipeline.SessionCycle{}}
		}
		return all[key]
	}
	db, err := w.open()
	if err != nil {
		return nil, err
	}
	defer db.Close()
	err = each(db, `SELECT target_key, cycle, state, running, stalled, head_sha, resumes FROM sessions`, func(rows *sql.Rows) error {
		var key, cycle, state string
		var running, stalled int
		s := &storedSession{}
		if err := rows.Scan(&key, &cycle, &state, &running, &stalled, &s.head, &s.resumes); err != nil {
			return err
		}
		s.running, s.stalled, of(key).row = running == 1, stalled == 1, s
		return first(decode(cycle, &s.cycle), decode(state, &s.state))
	})
	if err == nil {
		err = each(db, `SELECT target_key, agent, event_id, cycle FROM session_events`, func(rows *sql.Rows) error {
			var key, agent, id string
			var cycle int
			err := rows.Scan(&key, &agent, &id, &cycle)
			of(key).events[agent+"/"+id] = cycle
			return err
		})
	}
	if err == nil {
		err = each(db, `SELECT target_key, id, kind, agent, head_sha, cycle, state, note, answer, outdated FROM session_requests`, func(rows *sql.Rows) error {
			var key, id, answer string
			var outdated int
			q := &storedRequest{}
			if err := rows.Scan(&key, &id, &q.kind, &q.reviewer, &q.head, &q.cycle, &q.state, &q.note, &answer, &outdated); err != nil {
				return err
			}
			of(key).requests[id], q.outdated = q, outdated == 1
			return decode(answer, &q.answer)
		})
	}
	published := map[string]int64{}
	if err == nil {
		err = each(db, `SELECT run_id, published_at FROM reviews`, func(rows *sql.Rows) error {
			var id string
			var at int64
			err := rows.Scan(&id, &at)
			published[id] = at
			return err
		})
	}
	if err != nil {
		return nil, err
	}
	reader, err := store.OpenReader(w.t.Context(), w.url)
	if err != nil {
		return nil, err
	}
	defer reader.Close() //nolint:errcheck // it wrote nothing
	for r, err := range reader.Archived(w.t.Context(), ports.ReviewFilter{OnlyPulls: true}) {
		if err != nil {
			return nil, err
		}
		if s := r.Review.Session; s != nil && s.Cycle != nil {
			of(r.Key).begun[s.Cycle.Number] = s.Cycle
		}
		if at := published[r.RunID]; at > 0 {
			of(r.Key).reviews = append(of(r.Key).reviews, publishedReview{r, time.UnixMicro(at)})
		}
	}
	for _, h := range all {
		slices.SortStableFunc(h.reviews, func(a, b publishedReview) int { return a.at.Compare(b.at) })
	}
	return all, nil
}

func each(db *sql.DB, query string, scan func(*sql.Rows) error) error {
	rows, err := db.Query(query)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

func decode(text string, v any) error {
	if text == "" {
		return nil
	}
	return json.Unmarshal([]byte(text), v)
}

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// tally counts what happened in sessions.
type tally struct {
	sessions, events, dropped, refused         int
	cycles, fallbacks, decided, again, cut     int
	asked, answered, missing, killed, outdated int
	paused                                     int
}

// sessions judges the session of each pull request by the test's own record of what agents reported and
// reviewers answered, and prints the figures.
func (w *world) sessions(pulls []*pull, k *killer, f *figures) {
	w.t.Helper()
	all, err := w.histories()
	if err != nil {
		w.t.Errorf("read the sessions: %v", err)
		return
	}
	j := &sessionJudge{w: w, k: k}
	for _, p := range pulls {
		h := all[p.key()]
		if h == nil {
			h = &history{}
		}
		before := len(j.faults)
		j.judge(p, h)
		if faults := j.faults[before:]; len(faults) > 0 {
			w.t.Errorf("the session of %s", w.tellAll(p, faults))
		}
	}
	t := &j.tally
	f.add("sessions, events of agents", "%d, %d accepted, repeated and known %d, refused or dropped at a close %d", t.sessions, t.events, w.agents.again, t.refused+t.dropped)
	f.add("cycles", "%d, of these fallbacks %d, decided %d, without a decision %d", t.cycles, t.fallbacks, t.decided, t.cut)
	f.add("decided again by later answers", "%d", t.again)
	f.add("requests to reviewers", "%d, answered %d, never answered %d, lost by kills %d, outdated %d", t.asked, t.answered, t.missing, t.killed, t.outdated)
	f.add("sessions that end paused", "%d", t.paused)
	f.add("faults of sessions", "%d", len(j.faults))
}

type sessionJudge struct {
	w *world
	k *killer
	tally
	faults judgement
}

const unjust faultKind = "session"

func (j *sessionJudge) fault(format string, args ...any) { j.faults.add(unjust, format, args...) }

// judge judges the session of one pull request.
func (j *sessionJudge) judge(p *pull, h *history) {
	j.requests(p, h)
	decided := j.decisions(p, h)
	j.events(p, h, decided)
	j.cycles(p, h, decided)
	if h.row == nil {
		return
	}
	if h.row.running && p.open && !(h.row.stalled && j.mayStall(p)) {
		j.fault("cycle %d is not decided", h.row.cycle.Number)
	}
	j.end(p, h)
}

// events checks that each accepted event belongs to a cycle that is decided.
func (j *sessionJudge) events(p *pull, h *history, decided map[int]bool) {
	all := j.w.agents.all(p)
	if len(all) > 0 {
		j.sessions++
	}
	for _, s := range all {
		name := s.agent + "/" + s.id
		cycle, stored := h.events[name]
		switch {
		case s.status == http.StatusConflict && p.closes > 0:
			j.refused++
		case s.status != http.StatusAccepted:
			j.fault("event %s was refused: %d %s", name, s.status, s.refusal)
		case (!stored || cycle == 0) && p.closes > 0:
			j.dropped++
		case !stored:
			j.fault("event %s is lost", name)
		case cycle == 0:
			j.fault("event %s waits for a cycle", name)
		default:
			j.tally.events++
			if c := h.begun[cycle]; c != nil && !slices.Contains(c.Events, name) {
				j.fault("cycle %d does not know its event %s", cycle, name)
			}
			if !decided[cycle] && !j.mayStall(p) {
				j.fault("event %s belongs to cycle %d, which was not decided", name, cycle)
			}
		}
	}
}

// mayStall reports whether a cycle may stall or never be decided: its pull request was closed, or its
// review was given up.
func (j *sessionJudge) mayStall(p *pull) bool {
	return p.closes > 0 || j.w.logLines(p.key()+`"`, "review given up") > 0
}

// requests compares the requests with the reviewers' record.
func (j *sessionJudge) requests(p *pull, h *history) {
	for _, r := range j.w.reviewers {
		r.mu.Lock()
		ids := map[string]string{} // by cycle and head
		for id, q := range r.asked {
			if q.Repository != p.repo.FullName() || q.Number != p.Number {
				continue
			}
			j.asked++
			stored := h.requests[id]
			if stored == nil {
				j.fault("%s has request %s, which is not stored", r.name, id)
				continue
			}
			about := fmt.Sprintf("cycle %d, head %.7s", stored.cycle, stored.head)
			if other := ids[about]; other != "" {
				j.fault("%s was asked twice in %s: %s and %s", r.name, about, other, id)
			}
			ids[about] = id
			switch {
			case stored.answer != nil && stored.answer.Verdict != q.reaction.verdict:
				j.fault("%s answered %s to %s, and %s is stored", r.name, q.reaction.verdict, id, stored.answer.Verdict)
			case stored.answer != nil:
				j.answered++
			case q.accepted:
				j.fault("the answer of %s to %s was accepted, and is lost", r.name, id)
			case q.reaction.verdict == "":
				j.missing++
			case stored.superseded(h) || !p.open:
				j.outdated++
			case stored.state == string(ports.RequestFailed) && j.k.since(q.at) > 0:
				j.killed++
			default:
				j.fault("%s answered %s to %s, and the server says %s, %q", r.name, q.reaction.verdict, id, stored.state, stored.note)
			}
		}
		r.mu.Unlock()
	}
}

// superseded reports whether another head or cycle is current.
func (q *storedRequest) superseded(h *history) bool {
	return h.row == nil || q.cycle != h.row.cycle.Number || q.head != h.row.head
}

// decisions computes each published decision again from the reviewers' record, follows the pauses, and
// returns which cycles were decided.
func (j *sessionJudge) decisions(p *pull, h *history) map[int]bool {
	decided, rules := map[int]bool{}, map[string]int{}
	escalated, resumes := false, 0
	for _, r := range h.reviews {
		s, rep := r.Review.Session, r.Review.Report.Session
		if s == nil || rep == nil {
			continue
		}
		if rep.State.Resumes > resumes {
			resumes, escalated = rep.State.Resumes, false
		}
		if rep.Decided {
			answers := j.answersIn(h, r.StoredReview)
			unsettled, waiting := fourRules(answers, rep.State.Settled)
			want := unsettled
			if unsettled > 2 { // nothing new pauses the session, so the rule is about all answers
				want, _ = fourRules(answers, nil)
			}
			about := fmt.Sprintf("cycle %d, head %.7s, answers %v, settled %v", s.Cycle.Number, r.HeadSHA, answers, rep.State.Settled)
			if rep.Rule != want {
				j.fault("%s: rule %d decided, want %d", about, rep.Rule, want)
			}
			if waiting && unsettled != 1 && r.at.Before(s.Cycle.Deadline) {
				j.fault("%s: it did not wait for all answers", about)
			}
			if before, ok := rules[about]; ok && before != rep.Rule {
				j.fault("%s: rule %d and rule %d decided", about, before, rep.Rule)
			} else if !ok && decided[s.Cycle.Number] {
				j.again++
			}
			rules[about], decided[s.Cycle.Number] = rep.Rule, true
			escalated = escalated || unsettled == 1
		}
		if escalated != (rep.State.Escalation != nil) {
			j.fault("after cycle %d the session is escalated: %t, want %t", rep.Cycle, !escalated, escalated)
		}
	}
	if h.row != nil && escalated != (h.row.state.Escalation != nil) {
		j.fault("the session ends escalated: %t, want %t", !escalated, escalated)
	}
	j.decided += len(decided)
	return decided
}

// answersIn returns the answers in a review, each as the reviewer's name and the verdict. It checks that
// they agree with the reviewers' record.
func (j *sessionJudge) answersIn(h *history, r *ports.StoredReview) (answers []string) {
	for i := range r.Review.Session.Asked {
		a := &r.Review.Session.Asked[i]
		verdict := "missing"
		if a.Answer != nil {
			verdict = string(a.Answer.Verdict)
		}
		if a.HeadSHA != r.HeadSHA {
			j.fault("a decision on head %.7s has an answer to head %.7s", r.HeadSHA, a.HeadSHA)
		}
		if a.Cycle != r.Review.Session.Cycle.Number {
			continue // from an earlier cycle only the findings count
		}
		if said, ok := j.said(h, a.Reviewer, a.Cycle, a.HeadSHA); a.Answer != nil && (!ok || said != verdict) {
			j.fault("in cycle %d %s says %s, and the review has %s", a.Cycle, a.Reviewer, said, verdict)
		}
		answers = append(answers, a.Reviewer+" "+verdict)
	}
	return answers
}

// said returns what a reviewer answered by its own record, or "missing" if the server did not store an
// answer.
func (j *sessionJudge) said(h *history, reviewer string, cycle int, head string) (verdict string, asked bool) {
	for id, q := range h.requests {
		if q.kind != string(ports.RequestReview) || q.reviewer != reviewer || q.cycle != cycle || q.head != head {
			continue
		}
		for _, r := range j.w.reviewers {
			r.mu.Lock()
			own := r.asked[id]
			r.mu.Unlock()
			if own != nil && q.answer != nil {
				return string(own.reaction.verdict), true
			}
		}
		return "missing", true
	}
	return "", false
}

// fourRules decides from the answers that no person has settled, and from settled concerns if another one is
// not settled. waiting says that an answer is missing.
func fourRules(answers, settled []string) (rule int, waiting bool) {
	count, isSettled := map[string]int{}, map[string]int{}
	for _, a := range answers {
		_, verdict, _ := strings.Cut(a, " ")
		if slices.Contains(settled, a) {
			isSettled[verdict]++
		} else {
			count[verdict]++
		}
	}
	if count["concerns"] > 0 {
		count["concerns"] += isSettled["concerns"]
	}
	waiting = count["missing"] > 0
	switch {
	case count["blocker"] > 0:
		return 1, waiting
	case count["concerns"] > 1:
		return 2, waiting
	case waiting:
		return 0, waiting
	case count["concerns"] == 1:
		return 3, waiting
	}
	return 4, waiting
}

// cycles checks that each cycle began once, and that no fallback follows another without a reason.
func (j *sessionJudge) cycles(p *pull, h *history, decided map[int]bool) {
	if h.row == nil {
		return
	}
	j.tally.cycles += h.row.cycle.Number
	j.cut += h.row.cycle.Number - len(decided)
	heard := map[int]int{}
	for _, cycle := range h.events {
		heard[cycle]++
	}
	resumed := map[int]int{} // how often the session was resumed when a cycle was reviewed last
	for _, r := range h.reviews {
		if s := r.Review.Session; s != nil && s.Cycle != nil {
			resumed[s.Cycle.Number] = max(resumed[s.Cycle.Number], s.Resumes)
		}
	}
	for n := 1; n <= h.row.cycle.Number; n++ {
		c := h.begun[n]
		fallback := c != nil && c.Fallback() || c == nil && heard[n] == 0
		if !fallback {
			if heard[n] == 0 && !(j.mayStall(p) && h.takenOver(c)) {
				j.fault("cycle %d began by %v without an event", n, c.Triggers)
			}
			continue
		}
		j.fallbacks++
		if heard[n] > 0 && !j.mayStall(p) {
			j.fault("cycle %d is a fallback and has %d events", n, heard[n])
		}
		if before := h.begun[n-1]; before != nil && before.Fallback() && resumed[n] == resumed[n-1] {
			j.fault("cycles %d and %d are fallbacks, and no event came between them", n-1, n)
		}
	}
}

// takenOver reports whether a later cycle has taken over the events of one that stalled.
func (h *history) takenOver(c *pipeline.SessionCycle) bool {
	return c != nil && !slices.ContainsFunc(c.Events, func(event string) bool { return h.events[event] <= c.Number })
}

// end compares the state of the session with the newest answers, the check and the API.
func (j *sessionJudge) end(p *pull, h *history) {
	st := &h.row.state
	if st.Paused() {
		j.paused++
	}
	if h.row.resumes > len(p.resumes) {
		j.fault("it was resumed %d times by %d comments", h.row.resumes, len(p.resumes))
	}
	if !p.open {
		return
	}
	if st.Cycle == h.row.cycle.Number && st.HeadSHA == p.HeadSHA() && h.row.head == p.HeadSHA() {
		var answers []string
		for _, r := range j.w.reviewers {
			if verdict, asked := j.said(h, r.name, st.Cycle, st.HeadSHA); asked {
				answers = append(answers, r.name+" "+verdict)
			}
		}
		if want, _ := fourRules(answers, st.Settled); st.Rule != want {
			j.fault("the session ends by rule %d, and the reviewers answered %v, settled %v, which is rule %d", st.Rule, answers, st.Settled, want)
		}
	}
	runs := p.CheckRuns()
	if len(runs) == 0 {
		return // judge reports this
	}
	got, want := runs[len(runs)-1].Conclusion, conclusion(p.insecure)
	if st.Paused() {
		want = conclusion(true)
	}
	if got != want && !(want == conclusion(false) && got == "neutral") {
		j.fault("the check is %s (%s), and the session %s by rule %d, want %s", got, runs[len(runs)-1].Title, st.Status(), st.Rule, want)
	}
	for _, g := range p.groups {
		if all := g.CheckRuns(); !g.destroyed && len(all) > 0 {
			if newest := all[len(all)-1]; newest.Conclusion != conclusion(g.insecure || st.Paused()) {
				j.fault("the check of the merge group on %.7s is %s (%s), and the session %s", g.HeadSHA, newest.Conclusion, newest.Title, st.Status())
			}
		}
	}
	status, body := j.w.agents.state(p)
	var said struct {
		Status  string
		Settled bool
		Rule    *int
	}
	if err := json.Unmarshal(body, &said); status != http.StatusOK || err != nil || said.Status != st.Status() || !said.Settled || st.Cycle > 0 && (said.Rule == nil || *said.Rule != st.Rule) {
		j.fault("the API says %d %.300s, and the session is %s by rule %d", status, body, st.Status(), st.Rule)
	}
}
