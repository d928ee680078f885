package render

import (
	"regexp"
	"slices"
	"unicode/utf8"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
)

const (
	// anyInline begins the marker of every comment on lines.
	anyInline = markerStart + "inline "
	// maxInline is how many comments on lines one review adds at most.
	maxInline = 10
)

// inlineMarker matches the first line of a comment on lines. It has the fingerprint of the
// finding.
var inlineMarker = regexp.MustCompile(`^` + regexp.QuoteMeta(anyInline) + `([0-9a-f]{1,64}) -->`)

// InlineFingerprint returns the fingerprint in the marker of a comment on lines, or "".
// Anybody can write a marker, so ask it only of our own comments.
func InlineFingerprint(body string) string {
	if m := inlineMarker.FindStringSubmatch(body); m != nil {
		return m[1]
	}
	return ""
}

// InlineRemark is a comment to write on lines about a finding.
type InlineRemark struct {
	Fingerprint string
	ports.InlineWrite
}

// LineComments makes the comments on lines of one review.
type LineComments struct {
	sections
	by map[string]pipeline.Dismissal
}

// OnLines returns the comments on lines of a review.
func OnLines(v View) *LineComments {
	p, k := markdownPen{}, newLinker(v.Links, &v.Review.Facts)
	return &LineComments{
		sections: sections{r: &v.Review, p: p, k: k, fs: newFindings(v, p, k)},
		by:       dismissers(&v.Review.Memory),
	}
}

// New returns the comments to add, worst first, at most 10: about the findings on lines of
// the diff that are not known. With blocking only serious findings.
func (c *LineComments) New(blocking bool, known func(fingerprint string) bool) []InlineRemark {
	var out []InlineRemark
	for _, f := range c.fs.list {
		from, to, ok := c.fs.diff.shown(f.Path, f.StartLine, max(f.StartLine, f.EndLine))
		if !ok || c.fs.further[f] || blocking && !c.fs.isSerious(f) || slices.ContainsFunc(identities(f), known) || !utf8.ValidString(f.Path) {
			continue
		}
		body := c.open(f)
		if InlineFingerprint(body) != f.ID { // nobody would find the comment again
			continue
		}
		if out = append(out, InlineRemark{f.ID, ports.InlineWrite{Path: f.Path, StartLine: from, EndLine: to, Body: body}}); len(out) == maxInline {
			break
		}
	}
	return out
}

// Now returns the state of the comment about a finding, and what it should say in that
// state. The state is empty if the review has nothing about the finding.
func (c *LineComments) Now(fingerprint string) (ports.InlineState, string) {
	about := func(f *pipeline.Finding) bool { return slices.Contains(identities(f), fingerprint) }
	rep := &c.r.Report
	for i := range rep.Findings {
		if f := &rep.Findings[i]; about(f) {
			return ports.InlineOpen, marked(fingerprint, c.text(f))
		}
	}
	for i := range rep.Suppressed {
		if x := &rep.Suppressed[i]; about(&x.Finding) {
			return ports.InlineDismissed, c.closed(fingerprint, say("inline suppressed", c.suppressed(x, c.by)), &x.Finding)
		}
	}
	for i := range rep.Changes.Resolved {
		if f := &rep.Changes.Resolved[i]; about(f) {
			return ports.InlineFixed, c.closed(fingerprint, c.fixed(f), f)
		}
	}
	return "", ""
}

// Gone is Now for a finding that is gone and that no published review had.
func (c *LineComments) Gone(fingerprint string) (ports.InlineState, string) {
	return ports.InlineFixed, marked(fingerprint, say("md inline gone", c.fixed(&pipeline.Finding{})))
}

func (c *LineComments) fixed(f *pipeline.Finding) safe {
	sha := c.r.Report.HeadSHA
	return say("inline fixed", struct {
		Head   safe
		Secret bool
	}{c.p.link(c.p.code(shortSHA(sha), maxName), c.k.commit(sha)), isSecret(f)})
}

// identities are the fingerprints that identify a finding.
func identities(f *pipeline.Finding) []string { return append(slices.Clone(f.Fingerprints), f.ID) }

func (c *LineComments) open(f *pipeline.Finding) string { return marked(f.ID, c.text(f)) }

func marked(fingerprint string, text safe) string {
	return anyInline + fingerprint + " -->\n" + string(text)
}

// closed says what became of a finding. The text of the finding is collapsed below. Its fix
// is left out, because it was made for other lines.
func (c *LineComments) closed(fingerprint string, what safe, f *pipeline.Finding) string {
	old := *f
	old.SuggestedFix = ""
	text := c.finding(&old)
	text.Dismiss = ""
	return marked(fingerprint, say("md inline closed", struct{ What, Body safe }{what, c.fitting(text)}))
}

func (c *LineComments) text(f *pipeline.Finding) safe { return c.fitting(c.finding(f)) }

// finding returns the values for the text of a finding beside its lines. They do not change
// with the next push.
func (c *LineComments) finding(f *pipeline.Finding) finding {
	out := c.fs.line(f)
	c.fs.addDetails(&out, f)
	out.State = ""
	for _, other := range f.Also {
		out.Also = append(out.Also, say("also at", struct{ Place, ID, Evidence safe }{Place: c.fs.at(f.Path, other.StartLine, other.EndLine)}))
	}
	return out
}

// fitting returns the text of a finding, without its details if it is too long with them.
func (c *LineComments) fitting(f finding) safe {
	const around = 2000 // bytes of the marker, and of what became of the finding
	if text := say("md inline", f); len(text) <= maxBody-around {
		return text
	}
	return say("md inline short", f)
}

// isInline reports whether a finding has a comment on its lines.
func (fs *findings) isInline(f *pipeline.Finding) bool {
	_, ok := fs.inlineURL(f)
	return ok
}

func (fs *findings) inlineURL(f *pipeline.Finding) (url string, ok bool) {
	if len(fs.inline) == 0 {
		return "", false
	}
	for _, id := range identities(f) {
		if url, ok = fs.inline[id]; ok {
			return url, true
		}
	}
	return "", false
}

// inlineLine returns the line for the i-th group if its finding has a comment on its lines.
// Its title links to that comment.
func (fs *findings) inlineLine(i int) safe {
	f := fs.groups[i][0]
	url, _ := fs.inlineURL(f)
	if url == "" {
		return "" // it has no comment on its lines, or nobody knows where
	}
	out := fs.brief(i)
	out.Title = fs.p.link(out.Title, url)
	return say("md inline line", struct {
		finding
		Item bool
	}{out, i >= fs.serious})
}

// shown returns the first and the last line between start and end that the diff has, within
// its first hunk that has one. Both added lines and those around them count. It returns false
// if the diff has none of the lines.
func (d *diffIndex) shown(path string, start, end int) (from, to int, ok bool) {
	if start <= 0 {
		return 0, 0, false
	}
	lines := d.between(path, start, end)
	if len(lines) == 0 {
		return 0, 0, false
	}
	from = lines[0].number
	for _, l := range lines {
		if l.hunk == lines[0].hunk {
			to = l.number
		}
	}
	return from, to, true
}
