package render

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
)

// finding holds the values for the templates of findings.
type finding struct {
	Number         int // 0 if the finding does not block
	Title          safe
	Severity       word
	OneModel       word // the severity by the one model that found it, if it counts less in the gate
	RaisedIn       safe // the domains that raised the rule's severity
	Remote         bool // a remote reviewer found it, not a model
	Place          safe
	Agents         safe
	Rule           safe
	Link           safe // to the rule's reference; empty in formats without links
	Layer          safe // the config layer of the rule; empty for the defaults
	Reference      safe
	ID             safe
	Dismiss        safe // the command that dismisses it; empty where nobody can comment
	State          safe
	Accepted       safe   // who accepted it
	NotIgnored     safe   // why a comment that asks to ignore it has no effect
	NotDismissed   safe   // why a person's dismissal does not count
	Memory         safe   // what a record of memory says about it
	Final          []safe // which layers made it final, and who may dismiss it
	Message        safe
	Why            safe
	Evidence       []safe
	Opinions       []safe // of the models that checked it
	Recommendation safe
	Sides          []safe // what each reviewer says, if they disagree
	Bearing        word   // what a disagreement means for the merge
	Fix            safe
	More           int    // number of other places of the same finding
	Also           []safe // the first of these places
	AlsoCode       bool   // they show their code, so each has a line
}

// findings puts findings into words one at a time, so that only those that fit cost time.
type findings struct {
	p        pen
	k        linker
	diff     *diffIndex
	rules    map[string]RuleNote
	domains  []pipeline.Domain
	inline   map[string]string          // see View.Inline
	history  bool                       // there is a previous report, so the states new and open differ
	previous *pipeline.PreviousReport   // nil if only its head is known
	wasNew   map[string]bool            // by fingerprint; see inPrevious
	blocks   bool                       // the review blocks
	bar      int                        // the weight from which a finding is serious
	list     []*pipeline.Finding        // each finding once for each of its places
	further  map[*pipeline.Finding]bool // the places after the first
	groups   [][]*pipeline.Finding      // list without disputes; equal findings share a group
	serious  int                        // how many groups at the start are serious
	disputes []*pipeline.Finding        // disagreements that are not serious
	leftOut  []*pipeline.Finding        // in no group: the comment of an escalated pull request only counts them
}

// newFindings orders a report's findings by gate severity, worst first. Findings
// that wait for a person come after critical and major ones. Equals keep the
// report's order.
func newFindings(v View, p pen, k linker) *findings {
	r := &v.Review
	fs := &findings{
		p: p, k: k, diff: newDiffIndex(r.Facts.Files), rules: v.Rules, domains: r.Classification.Domains, inline: v.Inline,
		history: r.Report.Changes.PreviousReport != "", previous: r.Previous,
		blocks: findingsBlock(&r.Report), bar: barOf(&r.Report), further: map[*pipeline.Finding]bool{},
	}
	for i := range r.Report.Findings {
		places := r.Report.Findings[i].Places()
		fs.list = append(fs.list, places...)
		for _, f := range places[1:] {
			fs.further[f] = true
		}
	}
	slices.SortStableFunc(fs.list, func(a, b *pipeline.Finding) int { return weight(b) - weight(a) })
	fs.group()
	return fs
}

// weight orders findings by severity. Those that wait for a person weigh more than
// warnings and less than major ones.
func weight(f *pipeline.Finding) int {
	w := 2 * severityOf(f).Rank()
	if isHeld(f) {
		w = max(w, 2*pipeline.SeverityMajor.Rank()-1)
	}
	return w
}

// isSerious reports whether a finding is shown in full: it is critical or major, waits for a
// person, or blocks by the repository's own gate condition.
func (fs *findings) isSerious(f *pipeline.Finding) bool { return weight(f) >= fs.bar }

// barOf returns the weight from which a finding is serious. A gate condition of the repository that
// blocks makes the findings serious whose number it reads.
func barOf(r *pipeline.Report) int {
	bar := 2*pipeline.SeverityMajor.Rank() - 1 // what waits for a person weighs as much
	if !findingsBlock(r) || r.ByHand != nil || isIncomplete(r) || isDefaultCondition(r.Gate.Condition) {
		return bar
	}
	for _, name := range metricNames(&r.Gate) {
		switch strings.TrimPrefix(name, "new_") {
		case "warning":
			bar = min(bar, 2*pipeline.SeverityWarning.Rank())
		case "info", "findings":
			bar = min(bar, 2*pipeline.SeverityInfo.Rank())
		}
	}
	return bar
}

// isHeld reports whether a finding holds the gate until a person decides.
func isHeld(f *pipeline.Finding) bool { return f.HasReason(pipeline.ReasonHeld) }

// severityOf returns the severity that counts in the gate. A finding without a
// valid severity counts as major, so that it is shown in full.
func severityOf(f *pipeline.Finding) pipeline.Severity {
	switch {
	case f.GateSeverity.Valid():
		return f.GateSeverity
	case f.Severity.Valid():
		return f.Severity
	}
	return pipeline.SeverityMajor
}

// brief returns the i-th group without the details below its title.
func (fs *findings) brief(i int) finding {
	out := fs.line(fs.groups[i][0])
	out.More = len(fs.groups[i]) - 1
	if i < fs.serious {
		out.Number = i + 1
	}
	return out
}

// line returns the values for the line with a finding's title.
func (fs *findings) line(f *pipeline.Finding) finding {
	out := finding{
		Title:    fs.p.text(f.Title, maxTitle),
		Severity: word(severityOf(f)),
		OneModel: oneModelSeverity(f),
		RaisedIn: fs.raisedIn(f),
		Remote:   f.Model != "" && f.Model == f.Agent,
		Place:    fs.place(f),
		Agents:   fs.agents(f),
		Rule:     fs.p.code(f.RuleID, maxName),
		Link:     fs.referenceLink(f),
		Layer:    fs.layer(f),
		State:    fs.state(f),
		Accepted: fs.p.text(acceptedBy(f), maxName),
		ID:       fs.id(f),
		Dismiss:  fs.dismiss(f),
	}
	if out.Title == "" {
		out.Title = say("untitled", nil)
	}
	return out
}

// oneModelSeverity returns the severity by the one model that found a finding, if the
// finding counts less in the gate. Otherwise it returns "".
func oneModelSeverity(f *pipeline.Finding) word {
	if f.GateSeverity.Valid() && f.Severity.Rank() > f.GateSeverity.Rank() {
		return word(f.Severity)
	}
	return ""
}

// full returns the i-th group in full, with as much about its places as limits
// allows.
func (fs *findings) full(i int, limits placeLimits) finding {
	out := fs.brief(i)
	fs.addDetails(&out, fs.groups[i][0])
	out.Also = fs.otherPlaces(fs.groups[i], limits)
	out.AlsoCode = limits.evidence && slices.ContainsFunc(fs.groups[i], func(f *pipeline.Finding) bool { return !slices.Equal(f.Evidence, fs.groups[i][0].Evidence) })
	return out
}

// addDetails adds the text below a finding's title. For a disagreement, that is
// what each side says.
func (fs *findings) addDetails(out *finding, f *pipeline.Finding) {
	out.NotIgnored = sentence(fs.p.text(notIgnored(f), maxReason))
	if _, waits := f.Reason(pipeline.ReasonIgnoreWaits, pipeline.ReasonIgnoreChanged); waits && f.ID != "" {
		out.NotIgnored += " " + say("ignore waits", fs.p.code("/review accept "+f.ID[:min(8, len(f.ID))], maxName))
	}
	out.NotDismissed = sentence(fs.p.text(notDismissed(f), maxReason))
	out.Memory = fs.memory(f)
	out.Final = fs.final(f)
	out.Reference = fs.p.text(fs.reference(f), maxReference)
	if len(f.Perspectives) > 0 {
		out.Sides, out.Bearing = fs.sides(f), fs.bearing(f)
		out.Evidence = fs.evidence(f, nil)
		return
	}
	out.Message = fs.unlessRepeated(f.Message, f.Title)
	out.Why = fs.unlessRepeated(f.WhyItMatters, f.Title, f.Message)
	out.Recommendation = fs.unlessRepeated(f.Recommendation, f.Message, f.WhyItMatters)
	fix := fixOf(fs.diff, f)
	if fix != nil {
		out.Fix = fs.p.block("diff", visibleFix(fix))
	} else if n := len(codeLines(f.SuggestedFix)); n > maxFixLines || len(f.SuggestedFix) > maxFixBytes {
		out.Fix = say("fix too long", n)
	} else if lines := fixAlone(fs.diff, f); lines != nil {
		out.Fix = joined([]safe{say("fix alone", nil), fs.p.block("diff", visibleFix(lines))}, "\n")
	}
	out.Evidence = fs.evidence(f, fix)
	out.Opinions = fs.opinions(f)
}

// memory says what a record of memory did to a finding, or that it did nothing.
func (fs *findings) memory(f *pipeline.Finding) safe {
	r, ok := f.Reason(pipeline.ReasonJudgedWrong, pipeline.ReasonDoubted)
	if !ok {
		return ""
	}
	at := strings.IndexAny(r.Text+",", ";,")
	record, more := r.Text[:at], strings.TrimLeft(r.Text[at:], ";, ")
	return say("memory", struct {
		Record, More safe
		Doubted      bool
	}{fs.p.code(record, maxName), sentence(fs.p.text(more, maxReason)), r.Kind == pipeline.ReasonDoubted})
}

// opinions lists the opinions of the models that checked a finding.
func (fs *findings) opinions(f *pipeline.Finding) []safe {
	const maxOpinions = 4
	return first(f.Opinions, maxOpinions, func(o pipeline.Opinion) safe {
		return say("opinion", struct {
			Model, Why, Quote safe
			Refuted           bool
		}{fs.p.text(o.Model, maxName), fs.p.text(strings.TrimRight(o.Why, ". "), maxReason), fs.p.code(o.Quote, maxReason), o.Verdict == pipeline.OpinionRefuted})
	})
}

// final says which layers made a finding final, and who may dismiss it.
func (fs *findings) final(f *pipeline.Finding) []safe {
	const maxWho = 10
	var out []safe
	for _, in := range f.Final {
		out = append(out, say("final in", struct {
			Layer safe
			Who   []safe
		}{fs.p.text(in.Layer, maxName), first(in.Authority, maxWho, func(name string) safe { return fs.p.text(name, maxName) })}))
	}
	return out
}

// unlessRepeated returns s, or "" if s repeats one of the texts before it.
func (fs *findings) unlessRepeated(s string, before ...string) safe {
	for _, b := range before {
		if strings.TrimRight(s, ".") == strings.TrimRight(b, ".") {
			return ""
		}
	}
	return fs.p.para(s, maxMessage)
}

// evidence lists the evidence that neither the fix nor the finding's title and message
// show.
func (fs *findings) evidence(f *pipeline.Finding, fix []fixLine) []safe {
	const maxEvidence = 4
	var list []string
	for _, e := range f.Evidence {
		if e = strings.Trim(strings.TrimSpace(e), "`"); e != "" && e != f.Title && e != f.Message && !shows(fix, e) {
			list = append(list, e)
		}
	}
	return first(list, maxEvidence, func(e string) safe { return fs.p.code(lineBreak.ReplaceAllString(e, " "), maxReason) })
}

// lineBreak matches the white space around a line break in a quote, which is shown on one line.
var lineBreak = regexp.MustCompile(`\s*\n\s*`)

// shows reports whether a context line or a removed line of the fix contains s.
func shows(fix []fixLine, s string) bool {
	return slices.ContainsFunc(fix, func(l fixLine) bool { return l.op != pipeline.LineAdded && strings.Contains(l.text, s) })
}

// agents names who made a finding. If a model took part, it names the models, too,
// and adds the confidence.
func (fs *findings) agents(f *pipeline.Finding) safe {
	if makers := f.Attribution(); makers != "" {
		if f.RuleID != "" {
			makers = strings.Replace(makers, "rule "+f.RuleID, "the rule", 1) // the rule's id follows
		}
		return say("attribution", struct{ Who, Confidence safe }{fs.p.text(makers, maxReason), fs.p.text(strconv.FormatFloat(f.Confidence, 'f', 2, 64), maxName)})
	}
	const maxAgents = 6
	names := []string{f.Agent}
	if oneModelSeverity(f) != "" && f.Model != "" && f.Model != f.Agent {
		names[0] += " (" + f.Model + ")"
	}
	for _, r := range f.Reviewers {
		if r != f.Agent {
			names = append(names, r)
		}
	}
	joined, _ := list(", ", first(names, maxAgents, func(name string) safe { return fs.p.text(name, maxName) }))
	return joined
}

// place names the place of a finding, and links to it if possible.
func (fs *findings) place(f *pipeline.Finding) safe {
	if f.Path == "" {
		if f.Section == "" {
			return say("whole change", nil)
		}
		return say("in section", fs.p.text(f.Section, maxName))
	}
	return fs.at(f.Path, f.StartLine, f.EndLine)
}

func (fs *findings) at(path string, start, end int) safe {
	label := clipPath(path, maxPath)
	if start > 0 {
		label += fmt.Sprintf(":%d", start)
		if end > start {
			label += fmt.Sprintf("-%d", end)
		}
	}
	url := fs.k.file(path, start, end)
	if d := fs.diff.files[path]; d != nil && d.Status == pipeline.FileRemoved {
		url = fs.k.removed(path)
	}
	return fs.p.link(fs.p.code(label, 2*maxPath), url)
}

// dismiss returns the command that dismisses a finding, for people to copy.
func (fs *findings) dismiss(f *pipeline.Finding) safe {
	if f.ID == "" || fs.k.web == "" {
		return ""
	}
	return fs.p.code("/review dismiss "+f.ID[:min(8, len(f.ID))]+" <reason>", maxName)
}

func severityWord(s pipeline.Severity) word {
	if !s.Valid() {
		return ""
	}
	return word(s)
}

// counts counts the findings of the groups from up to, but not including, to.
func (fs *findings) counts(from, to int) pipeline.Counts {
	var c pipeline.Counts
	for _, g := range fs.groups[from:to] {
		for _, f := range g {
			if !fs.further[f] {
				c.Add(severityOf(f))
			}
		}
	}
	return c
}
