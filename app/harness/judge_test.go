package harness

import (
	"fmt"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/app/ghtest"
)

// fault is a fault in the answer to a pull request.
type fault struct {
	kind faultKind
	text string
	head string // head of the review that was given up
}

type faultKind string

const (
	lost       faultKind = "lost"       // no answer, or not the one for its content
	duplicate  faultKind = "duplicate"  // a second comment or open check run
	unfinished faultKind = "unfinished" // a check run that is not completed
	disobeyed  faultKind = "disobeyed"  // a command that was obeyed twice, or against its sender's rights
	ignored    faultKind = "ignored"    // a command without an answer
	gaveUp     faultKind = "gave up"    // "Could not complete the review"
	refused    faultKind = "refused"    // a command that was acknowledged and then answered that its review was given up
)

// judge lists a pull request's faults by GitHub's state alone. late is the number of events
// that arrived late: each may give a head another check run.
func (p *pull) judge(late func() int) []fault {
	var j judgement
	j.comments(p)
	runs, most := 0, len(p.distinctHeads())+p.renewals
	for _, head := range p.distinctHeads() {
		all := p.repo.Checks.On(head)
		runs += len(all)
		for _, c := range all {
			if couldNot(c) {
				most++ // and then one that could
			}
		}
		j.finished(head, all)
	}
	// It is not known on which head a command is obeyed, so the runs are counted over all
	// heads.
	if runs > most {
		most += late()
	}
	if runs > most {
		j.add(disobeyed, "%d check runs on %d heads, want at most %d", runs, len(p.distinctHeads()), most)
	}
	if p.open {
		j.answer(p.HeadSHA(), p.CheckRuns(), conclusion(p.insecure), p.agents != nil)
	}
	for _, g := range p.groups {
		j.finished(g.HeadSHA, g.CheckRuns())
		if !g.destroyed {
			j.answer(g.HeadSHA, g.CheckRuns(), conclusion(g.insecure), p.agents != nil && len(p.agents.all(p)) > 0)
		}
	}
	for _, c := range p.commands {
		j.command(p, c)
	}
	return j
}

func (p *pull) distinctHeads() []string {
	heads := slices.Clone(p.heads)
	slices.Sort(heads)
	return slices.Compact(heads)
}

type judgement []fault

func (j *judgement) add(kind faultKind, format string, args ...any) {
	*j = append(*j, fault{kind: kind, text: fmt.Sprintf(format, args...)})
}

// comments checks that there is one comment, and that it is about the head. A pull request that
// passes may have none.
func (j *judgement) comments(p *pull) {
	ours := p.AppComments()
	switch {
	case len(ours) > 1:
		j.add(duplicate, "%d comments", len(ours))
	case !p.open:
	case len(ours) == 0:
		if p.insecure {
			j.add(lost, "no comment")
		}
	default:
		if said := reviewedLine(ours[0].Body); !strings.Contains(said, p.HeadSHA()[:7]) {
			j.add(lost, "the comment says %q, the head is %.7s", said, p.HeadSHA())
		}
	}
}

// reviewedLine is the line of a comment that names its head.
func reviewedLine(body string) string {
	for line := range strings.Lines(body) {
		if strings.HasPrefix(line, "Reviewed ") {
			return strings.TrimSpace(line)
		}
	}
	return ""
}

func (j *judgement) finished(head string, runs []ghtest.CheckRun) {
	open := 0
	for _, c := range runs {
		if !c.Completed() {
			open++
			j.add(unfinished, "check run %d on %.7s is %s", c.ID, head, c.Status)
		}
	}
	if open > 1 {
		j.add(duplicate, "%d open check runs on %.7s", open, head)
	}
}

// answer checks that the newest check run is completed with the conclusion for the content.
// In a session it may be worse.
func (j *judgement) answer(head string, runs []ghtest.CheckRun, want string, sessions bool) {
	if len(runs) == 0 {
		j.add(lost, "no check run on %.7s", head)
		return
	}
	newest := runs[len(runs)-1]
	switch {
	case !newest.Completed(): // finished reports this
	case newest.Conclusion == want:
	case sessions && want == conclusion(false) && (newest.Conclusion == "neutral" || newest.Conclusion == conclusion(true)): // judged with the session
	case couldNot(newest):
		*j = append(*j, fault{kind: gaveUp, text: fmt.Sprintf("the check on %.7s: %s", head, newest.Title), head: head})
	default:
		j.add(lost, "the check on %.7s is %s (%s), want %s", head, newest.Conclusion, newest.Title, want)
	}
}

// couldNot reports whether a check run says that the review was given up.
func couldNot(c ghtest.CheckRun) bool {
	return c.Conclusion == "failure" && strings.HasPrefix(c.Title, "Could not complete")
}

// command checks that a command was answered according to its sender's permission.
func (j *judgement) command(p *pull, c command) {
	var got []string
	for _, comment := range p.Comments() {
		if comment.ID != c.id {
			continue
		}
		for _, r := range comment.Reactions {
			got = append(got, r.Content)
		}
	}
	want := []string{"eyes", "rocket"}
	if !c.permitted {
		want = []string{"confused"}
	}
	switch {
	case slices.Equal(got, want):
	case c.permitted && slices.Equal(got, []string{"eyes", "confused"}):
		j.add(refused, "command %d got %v, want %v", c.id, got, want)
	case len(got) > len(want) || !slices.Equal(got, want[:len(got)]):
		j.add(disobeyed, "command %d got %v, want %v", c.id, got, want)
	case !c.closed: // after a close the answer may be shorter
		j.add(ignored, "command %d got %v, want %v", c.id, got, want)
	}
}

// faults lists the faults of each pull request. It leaves out as many commands as the servers
// gave up. A command is not tried again after its server died three times while working on
// it. A command whose review is given up is answered so.
func (w *world) faults(pulls []*pull) map[*pull][]fault {
	wrong, count := map[*pull][]fault{}, map[faultKind]int{}
	for _, p := range pulls {
		if all := p.judge(func() int { return w.late(p) }); len(all) > 0 {
			wrong[p] = all
			count[ignored] += countOf(ignored, all)
			count[refused] += countOf(refused, all)
		}
	}
	for kind, most := range map[faultKind]func() int{ignored: w.droppedCommands, refused: w.droppedReviews} {
		if count[kind] == 0 || count[kind] > most() {
			continue
		}
		for p, all := range wrong {
			if wrong[p] = slices.DeleteFunc(all, func(f fault) bool { return f.kind == kind }); len(wrong[p]) == 0 {
				delete(wrong, p)
			}
		}
	}
	return wrong
}

// late counts the events of a pull request that the servers got later: by a redelivery, or
// from the delivery log. Such an event may name a head or a base that is outdated, or that is
// current again. Only a read of the pull request shows which. Until then the existing check
// must not count.
func (w *world) late(p *pull) int {
	events := map[string]bool{}
	for _, d := range w.gh.Webhook.Deliveries() {
		if d.Event == "pull_request" && (d.Redelivery || !d.OK()) && d.RepositoryID == p.repo.ID() && concerns(d, p) {
			events[d.GUID] = true
		}
	}
	return len(events)
}

func (w *world) droppedReviews() int { return w.logLines("the server died", "review given up") }

func (w *world) droppedCommands() int { return w.logLines(`"job":"command"`, "job given up") }

func countOf(kind faultKind, all []fault) (n int) {
	for _, f := range all {
		if f.kind == kind {
			n++
		}
	}
	return n
}

// reviewed fails the test for each pull request with a wrong answer, and counts the faults.
// It prints the full story of the first few.
func (w *world) reviewed(pulls []*pull) map[faultKind]int {
	w.t.Helper()
	const told = 5
	count, wrong := map[faultKind]int{}, 0
	for p, faults := range w.faults(pulls) {
		for _, f := range faults {
			count[f.kind]++
		}
		if wrong++; wrong <= told {
			w.t.Errorf("%s", w.tellAll(p, faults))
		} else {
			w.t.Errorf("%s#%d: %v", p.repo.FullName(), p.Number, faults)
		}
	}
	return count
}

// tellAll writes everything that is known about a pull request, to help find the cause of its
// faults.
func (w *world) tellAll(p *pull, faults []fault) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s#%d", p.repo.FullName(), p.Number)
	for _, f := range faults {
		fmt.Fprintf(&b, "\n  %s: %s", strings.ToUpper(string(f.kind)), f.text)
	}
	b.WriteString("\nwhat was done:\n  " + strings.Join(p.story, "\n  "))
	b.WriteString("\ncheck runs:")
	heads := p.distinctHeads()
	for _, g := range p.groups {
		heads = append(heads, g.HeadSHA)
	}
	for _, head := range heads {
		for _, c := range p.repo.Checks.On(head) {
			fmt.Fprintf(&b, "\n  %d on %.7s: %s %s (%s), begun %s, ended %s, %d updates", c.ID, head, c.Status, c.Conclusion, c.Title, clock(c.StartedAt), clock(c.CompletedAt), c.Updates)
		}
	}
	b.WriteString("\ncomments:")
	for _, c := range p.Comments() {
		fmt.Fprintf(&b, "\n  %d by %s at %s, %d edits, %v: %.80q", c.ID, c.Author, clock(c.CreatedAt), c.Edits, c.Reactions, c.Body)
	}
	b.WriteString("\ndeliveries:")
	for _, d := range w.gh.Webhook.Deliveries() {
		if d.RepositoryID == p.repo.ID() && concerns(d, p) {
			fmt.Fprintf(&b, "\n  %s %s %s %s redelivery=%v %d %s", clock(d.At), d.GUID, d.Event, d.Action, d.Redelivery, d.Status, d.Outcome)
		}
	}
	b.WriteString("\nlogs:")
	key := fmt.Sprintf(`pull/%d/%d"`, p.repo.ID(), p.Number)
	for _, s := range w.servers {
		s.eachLogLine(func(line string) {
			if strings.Contains(line, key) {
				fmt.Fprintf(&b, "\n  server %d %s", s.n, line)
			}
		})
	}
	return b.String()
}

// concerns reports whether a delivery is about the pull request.
func concerns(d ghtest.Delivery, p *pull) bool {
	text := string(d.Payload)
	for _, g := range p.groups {
		if strings.Contains(text, g.HeadSHA) {
			return true
		}
	}
	return strings.Contains(text, fmt.Sprintf(`"number":%d,`, p.Number)) || strings.Contains(text, fmt.Sprintf(`"number":%d}`, p.Number))
}
