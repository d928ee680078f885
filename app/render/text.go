package render

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reviewgate/reviewgate/pipeline"
)

// TextOptions configure the terminal's text.
type TextOptions struct {
	Color bool
	Width int // columns; 0 means 80, and the least is 40
	// Brief leaves out what only explains the review: coverage, gaps, the models' parts, and what was set
	// aside. The last line counts what it hides. A review that says no more than its title is one line.
	Brief bool
}

// Text renders the whole review for a terminal, in the words of the comment. Only the
// colours are control sequences.
func Text(v View, opts TextOptions) string {
	p := plainPen{}
	v.Details = "" // a terminal shows no links
	k := newLinker(Links{}, &v.Review.Facts)
	fs := newFindings(v, p, k)
	t := newTerminal(sections{&v.Review, p, k, fs, v.Record.ModelUse}, opts)
	t.page = newPage(v, p, k)
	t.group()
	t.put("", say("icon", t.page)+" "+say("title", t.page), styleBold)
	title := t.b.Len()
	t.head(v, opts.Brief)
	t.findings()
	t.session()
	t.reviewReports()
	t.proposedConfig(v.Backtest)
	t.list("heading resolved", t.resolved("text resolved"))
	t.list("heading unconfirmed", t.unconfirmed())
	t.disputes()
	if opts.Brief {
		return t.brief(title, v.Record.Duration())
	}
	t.modelsPart()
	aside, _ := t.aside()
	t.list("heading aside", aside)
	t.list("heading coverage", t.coverage())
	t.evaluated()
	t.gapLog()
	t.foot()
	return t.b.String()
}

// NothingToReview says why there is no change to review.
func NothingToReview(why string) string {
	return string(say("nothing to review", sentence(plainPen{}.text(why, maxReason))))
}

// terminal lays out one review in plain text.
type terminal struct {
	sections
	page   page
	groups []fileGroup
	color  bool
	width  int
	b      strings.Builder
}

func newTerminal(s sections, opts TextOptions) *terminal {
	t := &terminal{sections: s, color: opts.Color, width: 80}
	if opts.Width > 0 {
		t.width = max(40, opts.Width)
	}
	return t
}

// group groups the findings by file, and counts those that get a number.
func (t *terminal) group() {
	t.groups = t.fs.byFile()
	var numbered [][]*pipeline.Finding
	for _, g := range t.groups {
		if t.fs.isSerious(g.list[0]) {
			numbered = append(numbered, g.list)
		}
	}
	t.page.number(numbered, len(t.groups))
}

// Styles are ANSI escape sequences (SGR).
const (
	styleNone      = ""
	styleBold      = "\x1b[1m"
	styleDim       = "\x1b[2m"
	styleUnderline = "\x1b[4m"
	styleRed       = "\x1b[31m"
	styleGreen     = "\x1b[32m"
	styleYellow    = "\x1b[33m"
	styleCyan      = "\x1b[36m"
	styleOff       = "\x1b[0m"
)

// brief ends a brief text whose title ends at the offset title.
func (t *terminal) brief(title int, d time.Duration) string {
	gaps := t.gaps("text gap")
	aside, _ := t.aside()
	var time safe
	if d > 0 {
		time = took(d)
	}
	const maxUnreadPath = 60
	maxUnread := 3
	if t.b.Len() == title {
		maxUnread = 1 // a clean review has one line
	}
	unread := unreadFiles(t.r.Report.Incomplete)
	staged, unlisted := 0, 0
	for i := range t.r.Report.Coverage {
		unlisted += t.r.Report.Coverage[i].Unlisted
	}
	for _, i := range t.r.Report.Incomplete {
		if i.What == pipeline.IncompleteStaged {
			staged++
		}
	}
	names := first(unread[:min(len(unread), maxUnread)], maxUnread, func(path string) safe { return t.p.code(clipPath(path, maxUnreadPath), maxPath) })
	summary := say("text summary", struct {
		Only, Counts, Head, Base, Took safe
		Unread                         []safe
		Files, More                    int
		Staged, Gaps, Aside, Unlisted  int
	}{t.page.Only, t.counts(), t.page.Head, t.page.Base, time, names, len(t.r.Facts.Files), len(unread) - len(names), staged, gaps.n, aside.n, unlisted})
	if t.b.Len() == title {
		return strings.TrimSuffix(t.b.String(), "\n") + t.style(" · "+string(summary), styleDim) + "\n"
	}
	t.next()
	t.b.WriteByte('\n')
	t.put("", summary, styleDim)
	return t.b.String()
}

// counts counts the findings and their files. It is empty if there are none.
func (t *terminal) counts() safe {
	files := map[string]bool{}
	for _, f := range t.fs.list {
		if f.Path != "" {
			files[f.Path] = true
		}
	}
	return say("text counts", struct{ Findings, In, Files int }{len(t.fs.list) - len(t.fs.further), len(files), len(t.r.Facts.Files)})
}

// head says what the title leaves open.
func (t *terminal) head(v View, brief bool) {
	if t.page.Advisory {
		t.put("", say("advisory", nil), styleNone)
	}
	if t.page.ByHand != nil {
		t.put("", say("by hand told", t.page.ByHand), styleNone)
	}
	if !brief {
		t.put("", say("reviewed", t.page), styleDim)
	}
	if t.page.Condition != "" {
		t.put("", say("decided", t.page), styleNone)
	}
	for _, n := range t.noticeWords().notices(v.Notices) {
		t.put("", n.Lead, styleNone)
		for _, h := range n.Help {
			t.bullet("  ", say("text help", h))
		}
		for _, line := range n.List {
			t.bullet("  ", line)
		}
		if n.Code != "" {
			t.put("", n.Code, styleNone)
		}
	}
	if problems := t.problems(t.r.Facts.Config.Problems, t.origins()); problems.n > 0 {
		t.heading(say("config broken", t.broken()))
		t.items(problems)
	}
	if t.page.Incomplete && (t.page.Awaited == nil || !t.page.Awaited.Only) { // the title says who is awaited
		t.heading(say("incomplete", t.page))
		t.items(t.incomplete(true))
	}
}

// findings writes the findings under the names of their files.
func (t *terminal) findings() {
	number := 0
	for i, g := range t.groups {
		t.b.WriteByte('\n')
		if path := g.path(); i == 0 || path != t.groups[i-1].path() {
			heading := say("heading whole", nil)
			if path != "" {
				heading = t.p.code(path, maxPath)
			}
			t.put("", heading, styleUnderline)
		}
		out := t.fs.line(g.list[0])
		if t.fs.isSerious(g.list[0]) {
			number++
			out.Number = number
		}
		t.finding(out, &g)
	}
}

// evidence writes the quotes that the code above does not show.
func (t *terminal) evidence(indent string, quotes []safe) {
	if len(quotes) > 0 {
		t.put(indent, say("evidence", quotes), styleNone)
	}
}

// maxFramed is how many places of a group show their code. The others are listed.
const maxFramed = 4

func (t *terminal) finding(out finding, g *fileGroup) {
	const indent = "     "
	f := *g.list[0]
	code := t.fs.frame(&f)
	f.Evidence = slices.DeleteFunc(slices.Clone(f.Evidence), code.has)
	t.fs.addDetails(&out, &f)
	if g.like != nil && f.SuggestedFix == "" {
		out.Message, out.Why, out.Recommendation, out.Reference = say("explained above", t.fs.at(g.like.Path, g.like.StartLine, 0)), "", "", ""
	}
	out.More = len(g.list) - 1
	t.findingTitle(out, &f, code)
	t.frame(code)
	if len(g.list) > 1 { // each place has its own evidence
		t.evidence(indent, out.Evidence)
		out.Evidence = nil
	}
	listed := g.list[:1:1]
	for i, other := range g.list[1:] {
		if c := t.fs.frame(other); len(c.lines) > 0 && i+1 < maxFramed {
			t.put(indent, say("text place", finding{Place: t.fs.at(other.Path, other.StartLine, 0), ID: t.fs.placeID(other)}), styleDim)
			t.frame(c)
			unseen := *other
			unseen.Evidence = slices.DeleteFunc(slices.Clone(other.Evidence), c.has)
			t.evidence(indent, t.fs.evidence(&unseen, nil))
		} else {
			listed = append(listed, other)
		}
	}
	out.Also = t.fs.otherPlaces(listed, placeLimits{unlimited, true})
	if out.NotIgnored != "" {
		t.put(indent, say("not ignored", out.NotIgnored), styleNone)
	}
	if out.NotDismissed != "" {
		t.put(indent, say("not dismissed", out.NotDismissed), styleNone)
	}
	t.put(indent, out.Memory, styleNone)
	for _, in := range out.Final {
		t.put(indent, in, styleNone)
	}
	t.put(indent, out.Message, styleNone)
	t.put(indent, out.Why, styleNone)
	t.evidence(indent, out.Evidence)
	for _, o := range out.Opinions {
		t.put(indent, o, styleNone)
	}
	if out.Recommendation != "" {
		t.put(indent, say("recommendation", out.Recommendation), styleNone)
	}
	t.fix(indent, out, code)
	t.sides(indent, out)
	if len(out.Also) > 0 {
		t.put(indent, say("also", out), styleNone)
	}
	about := strings.TrimPrefix(string(say("text about", out)), " · ")
	if out.Reference != "" {
		sep := " · "
		if len(indent)+columns(about+sep+string(out.Reference)) > t.width {
			sep = "\n"
		}
		about += sep + string(out.Reference)
	}
	t.put(indent, safe(about), styleDim)
}

// findingTitle writes the line with the severity, the title and the place. A place that does
// not fit there gets a line of its own.
func (t *terminal) findingTitle(out finding, f *pipeline.Finding, code frame) {
	style := severityStyle(out.Severity)
	mark := "   "
	if out.Number > 0 {
		sign := " "
		if t.page.Blocks {
			sign = "✗"
		}
		mark = fmt.Sprintf("%s%2s", sign, grouped(out.Number))
	}
	severity := fmt.Sprintf("%-8s", out.Severity)
	column := columns(mark+severity) + 4
	t.b.WriteString(t.style(mark, style) + "  " + t.style(severity, style) + "  ")
	switch {
	case f.Path == "" && f.Section == "": // the heading says so
		out.Place = ""
	case len(code.lines) > 0: // which show the other lines
		out.Place = t.fs.at(f.Path, f.StartLine, 0)
	}
	out.ID = "" // it follows at the end
	place, indent := string(say("text place", out)), strings.Repeat(" ", column)
	if column+columns(string(out.Title)+place)+2 <= t.width {
		t.b.WriteString(t.style(string(out.Title), styleBold) + strings.TrimRight("  "+place, " ") + "\n")
		return
	}
	t.wrap(string(out.Title), column, indent, styleBold)
	t.put(indent, safe(place), styleNone)
}

// fix writes a suggested fix. If the frame shows all lines that it replaces, and there is
// nothing else to it, only the new lines follow.
func (t *terminal) fix(indent string, out finding, code frame) {
	if out.Fix == "" {
		return
	}
	lines := strings.Split(string(out.Fix), "\n")
	isRemoved := func(l string) bool { return strings.HasPrefix(l, "-") }
	isOther := func(l string) bool { return !isRemoved(l) && !strings.HasPrefix(l, "+") }
	if out.Recommendation != "" && code.more() == 0 && len(code.lines) > 0 && !slices.ContainsFunc(lines, isOther) {
		lines = slices.DeleteFunc(lines, isRemoved)
	}
	if len(code.lines) > 0 { // below the code
		indent = strings.Repeat(" ", code.gutter()-2)
	}
	for _, l := range lines {
		style := diffStyle(l)
		if strings.IndexAny(l, "+- ") == 0 {
			sign := l[:1]
			if len(code.lines) > 0 {
				sign += " "
			}
			l = sign + withoutTabs(l[1:])
		}
		t.b.WriteString(strings.TrimRight(indent+t.style(l, style), " ") + "\n")
	}
}

func severityStyle(s word) string {
	switch pipeline.Severity(s) {
	case pipeline.SeverityCritical, pipeline.SeverityMajor:
		return styleRed
	case pipeline.SeverityWarning:
		return styleYellow
	}
	return styleCyan
}

func diffStyle(line string) string {
	switch {
	case strings.HasPrefix(line, "+"):
		return styleGreen
	case strings.HasPrefix(line, "-"):
		return styleRed
	}
	return styleNone
}

func (t *terminal) list(heading string, list items) {
	if list.n > 0 {
		t.heading(say(heading, nil))
		t.items(list)
	}
}

func (t *terminal) items(list items) {
	for i := range list.n {
		t.bullet("  ", list.at(i))
	}
}

// sides lists what reviewers who disagree say.
func (t *terminal) sides(indent string, f finding) {
	if len(f.Sides) == 0 {
		return
	}
	for _, s := range append(f.Sides, say("bearing", f.Bearing)) {
		t.bullet(indent, s)
	}
}

func (t *terminal) disputes() {
	for i, f := range t.fs.disputes {
		if i == 0 {
			t.heading(say("heading disagree", nil))
		}
		out := t.fs.dispute(f)
		t.bullet("  ", say("text dispute", out))
		t.sides("    ", out)
	}
}

func (t *terminal) reviewReports() {
	list := t.outcomes("text outcome", true, false)
	if list.n == 0 {
		return
	}
	t.heading(say("heading reports", nil))
	for _, o := range list.all() {
		for i, l := range strings.Split(string(o), "\n") {
			if i == 0 {
				t.bullet("  ", safe(l))
			} else {
				t.bullet("    ", safe(l))
			}
		}
	}
}

func (t *terminal) modelsPart() {
	m := t.models(Acts{}) // a local review acts on nothing
	if m == nil {
		return
	}
	t.heading(say("heading models", nil))
	for _, v := range m.Verdicts {
		t.bullet("  ", say("model verdict", v))
	}
	if m.More > 0 {
		t.bullet("  ", moreOf(m.More))
	}
	for _, stage := range m.Stages {
		t.bullet("  ", say("models stage", stage))
	}
	t.bullet("  ", say("models decision", m))
	if len(m.Costs) > 0 {
		t.bullet("  ", say("models asked", m))
	}
}

func (t *terminal) proposedConfig(backtest *pipeline.ConfigBacktest) {
	p, list, ok := t.proposed(false)
	if !ok {
		return
	}
	t.heading(say("heading proposed", nil))
	t.put("", say("proposed", p), styleNone)
	for _, line := range p.Covers {
		t.bullet("  ", line)
	}
	for _, line := range append(p.Tests, say("proposed covers nothing", p), say("proposed agents added", p.AgentsAdded), say("proposed agents gone", p.AgentsGone), say("proposed findings", p)) {
		if line != "" {
			t.bullet("  ", line)
		}
	}
	for _, line := range p.Findings {
		t.bullet("    ", line)
	}
	t.items(list)
	if b := t.backtested(backtest, unlimited); b != nil {
		t.b.WriteByte('\n')
		t.put("", say("backtested", b), styleNone)
		for _, line := range b.Items {
			t.bullet("  ", line)
		}
	}
}

func (t *terminal) gapLog() {
	gaps := t.gaps("text gap")
	if gaps.n == 0 {
		return
	}
	t.heading(say("heading gaps", nil))
	for _, g := range gaps.all() {
		words, patch, _ := strings.Cut(string(g), "\n")
		t.bullet("  ", safe(words))
		for _, l := range strings.Split(patch, "\n") {
			if l != "" {
				t.b.WriteString("    " + l + "\n")
			}
		}
	}
}

func (t *terminal) next() {
	if next := t.page.next(); next != "" {
		t.b.WriteByte('\n')
		t.put("", say("text next", next), styleNone)
	}
}

func (t *terminal) foot() {
	t.next()
	t.b.WriteByte('\n')
	t.put("", say("text footer", struct{ Counts, Footer safe }{t.counts(), say("footer", t.page)}), styleDim)
}

func (t *terminal) heading(s safe) {
	t.b.WriteByte('\n')
	t.put("", s, styleBold)
	t.b.WriteByte('\n')
}

func (t *terminal) bullet(indent string, s safe) {
	t.b.WriteString(indent + "- ")
	t.wrap(string(s), len(indent)+2, indent+"  ", styleNone)
}

// put writes a text on new lines, wrapped and indented.
func (t *terminal) put(indent string, s safe, style string) {
	if s == "" {
		return
	}
	for _, l := range strings.Split(string(s), "\n") {
		t.b.WriteString(indent)
		t.wrap(l, len(indent), indent, style)
	}
}

// wrap writes words up to the width. The first line starts at column, and the other
// lines start with indent.
func (t *terminal) wrap(s string, column int, indent, style string) {
	var line strings.Builder
	flush := func() {
		t.b.WriteString(t.style(line.String(), style) + "\n")
		line.Reset()
	}
	for _, w := range strings.Split(s, " ") {
		n := columns(w)
		if line.Len() > 0 && column+1+n > t.width {
			flush()
			t.b.WriteString(indent)
			column = columns(indent)
		}
		if line.Len() > 0 {
			line.WriteByte(' ')
			column++
		}
		line.WriteString(w)
		column += n
	}
	flush()
}

func (t *terminal) style(s, style string) string {
	if !t.color || style == styleNone || s == "" {
		return s
	}
	return style + s + styleOff
}
