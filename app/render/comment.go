package render

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
)

// Comment renders the one comment of a pull request. Its body never has more
// than 65,000 bytes.
func Comment(v View) Document {
	r := newReport(v, maxBody-len(Marker)-1)
	r.moved = slices.DeleteFunc([]string{config.SectionCoverage, config.SectionGaps, config.SectionReport},
		func(name string) bool { return slices.Contains(v.Sections, name) })
	r.page.Elsewhere = r.elsewhere()
	r.hideOld()
	text := r.comment()
	return Document{Body: Marker + "\n" + r.run.Replace(string(text)), Digest: digest(text)}
}

// Markdown renders the whole comment for reading without GitHub. It has no marker, and
// links only if v has.
func Markdown(v View) string {
	r := newReport(v, unlimited)
	return r.run.Replace(string(r.comment())) + "\n"
}

func digest(parts ...safe) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(p))
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil))
}

// report lays out one review in markdown.
type report struct {
	sections
	view  View
	page  page
	run   *strings.Replacer // replaces the marks by the texts that vary from run to run
	limit int               // bytes of the whole text
	moved []string          // sections that only the check has
	check bool              // it is a check run's text, which collapses nothing
	tight bool              // the findings do not fit, so the sections below them are shorter
}

// Marks of fixed length stand for the texts that vary from run to run, so that these
// texts change neither the layout nor the digest. No pen lets a NUL through.
const (
	markRun     = "\x00r"
	markDetails = "\x00d"
	markTime    = "\x00t"
)

func newReport(v View, limit int) *report { return reportWith(markdownPen{}, v, limit) }

func reportWith(p pen, v View, limit int) *report {
	k := newLinker(v.Links, &v.Review.Facts)
	fs := newFindings(v, p, k)
	r := &report{
		sections: sections{&v.Review, p, k, fs, v.Record.ModelUse},
		view:     v,
		page:     newPage(v, p, k),
		limit:    limit,
	}
	r.page.number(fs.groups[:fs.serious], len(fs.groups))
	r.run = strings.NewReplacer(markRun, string(r.page.Run), markDetails, string(r.page.Details),
		markTime, timestamp(v.Record.FinishedAt))
	r.page.Run = markRun
	if r.page.Details != "" {
		r.page.Details = markDetails
	}
	return r
}

func (r *report) comment() safe {
	return r.fitted(r.head(), func() []safe {
		return append(r.belowFindings(), r.next(), say("md footer", r.page), r.machineReadable())
	})
}

// fitted puts the findings between the parts above and below them, in the remaining
// room. If not all findings fit, it calls below again for shorter parts.
func (r *report) fitted(above []safe, below func() []safe) safe {
	room := r.limit
	under := below()
	if r.limit < unlimited {
		around := blocks(append(slices.Clip(above), under...))
		const leftOut = 1 // the line that counts the findings left out has a link, too
		room -= len(around) + roomRun + (strings.Count(string(around), markDetails)+leftOut)*roomDetails
	}
	shown, hidden := r.findings(room)
	if (hidden > 0 || room < 0) && !r.tight {
		r.tight = true
		return r.fitted(above, below)
	}
	return blocks(append(append(above, shown...), under...))
}

// head returns the parts above the findings.
func (r *report) head() []safe {
	out := []safe{say("md headline", r.page)}
	if r.page.Advisory {
		out = append(out, say("md advisory", nil))
	}
	if r.page.ByHand != nil {
		out = append(out, say("md by hand", r.page.ByHand))
	}
	out = append(out, r.paused(), r.escalated(), r.brokenConfig(), r.missing(), r.awaited())
	for _, n := range r.noticeWords().notices(r.view.Notices) {
		out = append(out, say("md notice", n))
	}
	out = append(out, say("reviewed", r.page), r.sharedHeads())
	if r.page.Condition != "" {
		out = append(out, say("decided", r.page))
	}
	return append(out, r.countsTable(), r.attempt())
}

// brokenConfig says that a config layer could not be used, and why.
func (r *report) brokenConfig() safe {
	problems := r.problems(r.r.Facts.Config.Problems, r.origins())
	if problems.n == 0 {
		return ""
	}
	shown, more := problems.take(r.room(roomProblems))
	return say("md config broken", struct {
		broken
		Problems []safe
		More     safe
	}{r.broken(), shown, r.more(more)})
}

// missing says why the review is incomplete, unless it only waits for answers.
func (r *report) missing() safe {
	list := r.incomplete(true)
	if list.n == 0 || r.page.Awaited != nil && r.page.Awaited.Only {
		return ""
	}
	unread := slices.ContainsFunc(r.r.Report.Incomplete, func(i pipeline.Incompleteness) bool { return i.Gating && i.Unread() })
	shown, more := list.take(r.room(roomProblems))
	return say("md incomplete", struct {
		Items  []safe
		More   safe
		ByHand *byHand
		Unread bool
	}{shown, r.more(more), r.page.ByHand, unread})
}

func (r *report) sharedHeads() safe {
	if len(r.view.Shared) == 0 {
		return ""
	}
	shown, more := shared(r.view.Shared).take(r.room(roomShared))
	if more > 0 {
		shown = append(shown, r.more(more))
	}
	return say("shared", shown)
}

// countsTable counts the findings by agent, with a column for each severity that occurs.
func (r *report) countsTable() safe {
	rows := r.table()
	if len(rows) < 2 {
		return "" // the headline says the same
	}
	var all pipeline.Counts
	for _, row := range rows {
		all = sum(all, row.Counts)
	}
	room := r.room(roomTable)
	for i, row := range rows {
		const numbers = 60 // bytes of a row besides the name, at most
		if room -= len(row.Agent) + numbers; room < 0 {
			rest := agentCounts{Agent: r.more(len(rows) - i)}
			for _, hidden := range rows[i:] {
				rest.Counts = sum(rest.Counts, hidden.Counts)
			}
			rows = append(rows[:i], rest)
			break
		}
	}
	return say("md table", struct {
		Rows []agentCounts
		All  pipeline.Counts
	}{rows, all})
}

func sum(a, b pipeline.Counts) pipeline.Counts {
	a.Critical += b.Critical
	a.Major += b.Major
	a.Warning += b.Warning
	a.Info += b.Info
	return a
}

// findings returns the findings that fit into room bytes. Serious ones are shown in full,
// and the others collapsed. hidden counts the findings left out.
func (r *report) findings(room int) (parts []safe, hidden int) {
	fs := r.fs
	if len(fs.groups) == 0 {
		return []safe{r.hiddenOld()}, 0
	}
	if room < unlimited {
		room -= 1000 // headings, summary, and the line that counts the rest
	}
	shown := fit(len(fs.groups), room, r.long, r.short)
	serious := shown[:min(fs.serious, len(shown))]
	minor := shown[len(serious):]
	if len(serious) > 0 {
		heading := "heading serious"
		switch pg := r.page; {
		case !pg.Blocks || pg.Advisory:
		case pg.Waiting == pg.Numbered:
			heading = "heading deciding"
		default:
			heading = "heading blocking"
		}
		parts = append(parts, section(heading, blocks(serious)))
	}
	if len(minor) > 0 {
		parts = append(parts, r.minor(minor))
	}
	if left := fs.counts(len(shown), len(fs.groups)); left.Total() > 0 {
		hidden = left.Total()
		parts = append(parts, say("more findings", struct {
			N       int
			Counts  pipeline.Counts
			Check   bool
			Details safe
		}{hidden, left, r.check, r.page.Details}))
	}
	return append(parts, r.hiddenOld()), hidden
}

func (r *report) long(i int) safe {
	if line := r.fs.inlineLine(i); line != "" {
		return line
	}
	if i < r.fs.serious || r.check {
		return say("md finding", r.fs.full(i, placeLimits{r.room(roomPlaces), true}))
	}
	return say("md item", r.fs.full(i, placeLimits{r.room(roomMinorPlaces), false}))
}

func (r *report) short(i int) safe {
	if line := r.fs.inlineLine(i); line != "" {
		return line
	}
	if i < r.fs.serious || r.check {
		return say("md finding short", r.fs.brief(i))
	}
	return say("md item short", r.fs.brief(i))
}

// minor returns the findings that do not block.
func (r *report) minor(items []safe) safe {
	if r.check {
		return section("heading minor", blocks(items))
	}
	counts := r.fs.counts(r.fs.serious, len(r.fs.groups))
	return say("md details", details{
		Name: say("heading minor", nil), Summary: say("counts", counts), Body: lines(items),
	})
}

// details is a collapsed part.
type details struct {
	Name, Summary, Body safe
}

// details collapses a list of lines.
func (r *report) details(heading string, summary safe, list items, room int) safe {
	if list.n == 0 {
		return ""
	}
	shown, more := list.take(r.roomBelow(room))
	if more > 0 {
		shown = append(shown, r.more(more))
	}
	return r.wrap(heading, summary, lines(bullets(shown)))
}

func (r *report) wrap(heading string, summary, body safe) safe {
	if r.check {
		return section(heading, body)
	}
	return say("md details", details{Name: say(heading, nil), Summary: summary, Body: body})
}

// belowFindings returns the parts below the findings.
func (r *report) belowFindings() []safe {
	resolved := r.resolved("md resolved")
	unconfirmed := r.unconfirmed()
	disputed := r.disputed("md dispute")
	out := []safe{
		r.sessionPart(),
		r.reviewReports(),
		r.proposedConfig(),
		r.details("heading resolved", safe(grouped(resolved.n)), resolved, roomResolved),
		r.details("heading unconfirmed", safe(grouped(unconfirmed.n)), unconfirmed, roomUnconfirmed),
		r.details("heading disagree", safe(grouped(disputed.n)), disputed, roomDisputed),
		r.modelsDetails(),
		r.fixHistory(),
	}
	if !r.check { // a check has them in its summary
		out = append(out, r.setAside(), r.evaluated())
	}
	if !slices.Contains(r.moved, config.SectionCoverage) {
		out = append(out, r.details("heading coverage", say("coverage summary", nil), r.coverage(), roomCoverage))
	}
	return append(out, r.gapDetails())
}

// setAside lists what does not count in the gate.
func (r *report) setAside() safe {
	list, counts := r.aside()
	return r.details("heading aside", counts, list, roomAside)
}

// elsewhere names the sections that only the check has.
func (r *report) elsewhere() safe {
	if len(r.moved) == 0 {
		return ""
	}
	var list []safe
	for _, name := range r.moved {
		switch name {
		case config.SectionCoverage:
			list = append(list, say("elsewhere coverage", nil))
		case config.SectionGaps:
			list = append(list, say("elsewhere gaps", r.gaps("md gap").n))
		case config.SectionReport:
			list = append(list, say("elsewhere report", nil))
		}
	}
	return say("elsewhere", struct {
		Sections []safe
		Details  safe
	}{list, r.page.Details})
}

// proposedConfig is not collapsed, because the author of a config change wants to see it.
func (r *report) proposedConfig() safe {
	p, list, ok := r.proposed(r.tight)
	if !ok {
		return ""
	}
	shown, more := list.take(r.roomBelow(roomProposed))
	if more > 0 {
		shown = append(shown, r.more(more))
	}
	backtest := r.backtested(r.view.Backtest, r.roomBelow(roomBacktest))
	if r.tight { // the findings need the room of the details
		p.Tests, p.Covers = p.Tests[:min(len(p.Tests), 1)], p.Covers[:min(len(p.Covers), 1)]
		if backtest != nil {
			backtest.Why = backtest.Why[:min(len(backtest.Why), 1)]
		}
	}
	return section("heading proposed", say("md proposed", struct {
		proposed
		Items    []safe
		Backtest *backtested
	}{p, shown, backtest}))
}

// reviewReports is not collapsed, because the reports decide whether work continues.
func (r *report) reviewReports() safe {
	list := r.outcomes("md outcome", r.check, r.tight)
	if list.n == 0 {
		return ""
	}
	shown, more := list.take(r.room(roomReports))
	if more > 0 {
		shown = append(shown, r.more(more))
	}
	return section("heading reports", blocks(shown))
}

func (r *report) modelsDetails() safe {
	m := r.models(r.view.Acts)
	if m == nil {
		return ""
	}
	return r.wrap("heading models", say("models headline", m), say("md models", m))
}

// gapDetails shows each gap as a block of its own.
func (r *report) gapDetails() safe {
	gaps := r.gaps("md gap")
	if gaps.n == 0 || slices.Contains(r.moved, config.SectionGaps) {
		return ""
	}
	shown, more := gaps.take(r.roomBelow(roomGaps))
	if more > 0 {
		shown = append(shown, r.more(more))
	}
	return r.wrap("heading gaps", say("gap counts", gaps.n), blocks(shown))
}

func (r *report) next() safe {
	next := r.page.next()
	if next == "" {
		return ""
	}
	return say("md next", next)
}

// room returns how many bytes a section may take.
func (r *report) room(n int) int {
	if r.limit >= unlimited {
		return unlimited
	}
	return n
}

// roomBelow returns how many bytes a section below the findings may take.
func (r *report) roomBelow(n int) int {
	if r.tight {
		n /= 4
	}
	return r.room(n)
}

// more counts the items that a list leaves out, and links to them.
func (r *report) more(n int) safe {
	if n == 0 {
		return ""
	}
	return say("more", more{n, r.page.Details})
}

func section(heading string, body safe) safe {
	return say("md section", struct{ Name, Body safe }{say(heading, nil), body})
}

func bullets(items []safe) []safe {
	out := make([]safe, len(items))
	for i, s := range items {
		out[i] = "- " + s
	}
	return out
}
