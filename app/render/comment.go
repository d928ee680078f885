package render

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/reviewgate/reviewgate/pipeline"
)

// Comment renders the one comment of a pull request. Its body never has more
// than 65,000 bytes.
func Comment(v View) Document {
	return Document{
		Body:   Marker + "\n" + string(newReport(v, maxBody-len(Marker)-1).comment()),
		Digest: digest(newReport(stable(v), maxBody).comment()),
	}
}

// Markdown renders the comment for reading without GitHub: without the marker
// and with nothing left out. It has links only if v has.
func Markdown(v View) string {
	return string(newReport(v, unlimited).comment()) + "\n"
}

// stable is a view without what varies from run to run.
func stable(v View) View {
	v.Record = pipeline.RunRecord{Version: v.Record.Version}
	v.Details = ""
	return v
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
	limit int  // bytes of the whole text
	check bool // a check run's text, in which nothing is collapsed
}

func newReport(v View, limit int) *report {
	p := markdownPen{}
	k := newLinker(v.Links, &v.Review.Facts)
	fs := newFindings(&v.Review, p, k)
	r := &report{
		sections: sections{&v.Review, p, k, fs},
		view:     v,
		page:     newPage(v, p, k),
		limit:    limit,
	}
	r.page.Numbered = fs.serious
	return r
}

func (r *report) comment() safe {
	above := r.head()
	below := append(r.around(), r.next(), say("md footer", r.page))
	room := r.limit
	if r.limit < unlimited {
		room -= len(blocks(above)) + len(blocks(below))
	}
	return blocks(append(append(above, r.findings(room)...), below...))
}

// head is all that stands above the findings.
func (r *report) head() []safe {
	out := []safe{say("md headline", r.page)}
	if r.page.Advisory {
		out = append(out, say("md advisory", nil))
	}
	out = append(out, r.brokenConfig(), r.missing())
	if r.view.Notice != "" {
		out = append(out, say("md notice", r.p.para(r.view.Notice, maxMessage)))
	}
	out = append(out, say("reviewed", r.page), r.sharedHeads())
	if r.page.Condition != "" {
		out = append(out, say("decided", r.page))
	}
	return append(out, r.countsTable())
}

// brokenConfig tells that a config layer could not be used, and why.
func (r *report) brokenConfig() safe {
	problems := r.problems()
	if problems.n == 0 {
		return ""
	}
	shown, more := problems.take(r.room(roomProblems))
	return say("md config broken", struct {
		broken
		Problems []safe
		More     safe
	}{r.broken(), shown, moreLine(more)})
}

// missing tells what keeps the review from being complete.
func (r *report) missing() safe {
	list := r.incomplete(true)
	if list.n == 0 {
		return ""
	}
	shown, more := list.take(r.room(roomProblems))
	return say("md incomplete", struct {
		Items []safe
		More  safe
	}{shown, moreLine(more)})
}

func (r *report) sharedHeads() safe {
	if len(r.view.Shared) == 0 {
		return ""
	}
	shown, more := shared(r.view.Shared).take(r.room(roomShared))
	if more > 0 {
		shown = append(shown, moreLine(more))
	}
	return say("shared", shown)
}

func (r *report) countsTable() safe {
	rows := r.table()
	if len(rows) == 0 {
		return ""
	}
	room := r.room(roomTable)
	for i, row := range rows {
		const numbers = 60 // bytes of a row besides the name, at most
		if room -= len(row.Agent) + numbers; room < 0 {
			rest := agentCounts{Agent: moreLine(len(rows) - i)}
			for _, hidden := range rows[i:] {
				rest.Counts = sum(rest.Counts, hidden.Counts)
			}
			rows = append(rows[:i], rest)
			break
		}
	}
	return say("md table", struct{ Rows []agentCounts }{rows})
}

func sum(a, b pipeline.Counts) pipeline.Counts {
	a.Critical += b.Critical
	a.Major += b.Major
	a.Warning += b.Warning
	a.Info += b.Info
	return a
}

// findings are the findings that fit into room bytes: critical and major ones
// in full, the others collapsed. What does not fit is counted.
func (r *report) findings(room int) []safe {
	fs := r.fs
	if len(fs.list) == 0 {
		return nil
	}
	if room < unlimited {
		room -= 1000 // headings, summary, and the line that counts the rest
	}
	shown := fit(len(fs.list), room, r.long, r.short)
	serious := shown[:min(fs.serious, len(shown))]
	minor := shown[len(serious):]
	var out []safe
	if len(serious) > 0 {
		heading := "heading serious"
		if r.page.Blocks {
			heading = "heading blocking"
		}
		out = append(out, section(heading, blocks(serious)))
	}
	if len(minor) > 0 {
		out = append(out, r.minor(minor))
	}
	if hidden := len(fs.list) - len(shown); hidden > 0 {
		out = append(out, say("more findings", struct {
			N       int
			Counts  pipeline.Counts
			Check   bool
			Details safe
		}{hidden, fs.counts(len(shown), len(fs.list)), r.check, r.page.Details}))
	}
	return out
}

func (r *report) long(i int) safe {
	if i < r.fs.serious || r.check {
		return say("md finding", r.fs.full(i))
	}
	return say("md item", r.fs.full(i))
}

func (r *report) short(i int) safe {
	if i < r.fs.serious || r.check {
		return say("md finding short", r.fs.brief(i))
	}
	return say("md item short", r.fs.brief(i))
}

// minor are the warnings and infos. They stand open where they are what
// blocks, by a gate condition of the repository's own.
func (r *report) minor(items []safe) safe {
	if r.check {
		return section("heading minor", blocks(items))
	}
	counts := r.fs.counts(r.fs.serious, len(r.fs.list))
	return say("md details", details{
		Open: r.page.Blocks && !r.page.Incomplete && r.fs.serious == 0,
		Name: say("heading minor", nil), Summary: say("counts", counts), Body: lines(items),
	})
}

// details is a part that is collapsed.
type details struct {
	Open                bool
	Name, Summary, Body safe
}

// details collapses a list of lines.
func (r *report) details(heading string, summary safe, list items, room int) safe {
	if list.n == 0 {
		return ""
	}
	shown, more := list.take(r.room(room))
	if more > 0 {
		shown = append(shown, moreLine(more))
	}
	return r.wrap(heading, summary, lines(bullets(shown)))
}

func (r *report) wrap(heading string, summary, body safe) safe {
	if r.check {
		return section(heading, body)
	}
	return say("md details", details{Name: say(heading, nil), Summary: summary, Body: body})
}

// around are the parts below the findings.
func (r *report) around() []safe {
	resolved := r.resolved("md resolved")
	aside, asideCounts := r.aside()
	return []safe{
		r.details("heading resolved", safe(grouped(resolved.n)), resolved, roomResolved),
		r.details("heading aside", asideCounts, aside, roomAside),
		r.details("heading coverage", say("coverage summary", nil), r.coverage(), roomCoverage),
		r.gapDetails(),
	}
}

// gapDetails is not a list: each gap has a block of its own.
func (r *report) gapDetails() safe {
	gaps := r.gaps("md gap")
	if gaps.n == 0 {
		return ""
	}
	shown, more := gaps.take(r.room(roomGaps))
	if more > 0 {
		shown = append(shown, moreLine(more))
	}
	return r.wrap("heading gaps", say("gap counts", gaps.n), blocks(shown))
}

func (r *report) next() safe {
	if say("next", r.page) == "" {
		return ""
	}
	return say("md next", r.page)
}

// room is what a section may take.
func (r *report) room(n int) int {
	if r.limit >= unlimited {
		return unlimited
	}
	return n
}

func section(heading string, body safe) safe {
	return say("md section", struct{ Name, Body safe }{say(heading, nil), body})
}

func moreLine(n int) safe {
	if n == 0 {
		return ""
	}
	return say("more", n)
}

func bullets(items []safe) []safe {
	out := make([]safe, len(items))
	for i, s := range items {
		out[i] = "- " + s
	}
	return out
}
