package rules

import (
	"context"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/pipeline/internal/literals"
	"github.com/reviewgate/reviewgate/policies/expression"
)

// Scan is one pass of all rules over one change, shared by its agents.
type Scan struct {
	engine         *Engine
	facts          *pipeline.PRFacts
	classification *pipeline.Classification
	turn           chan struct{} // held by who scans
	done           bool
	found          []found // in the order of the change
}

// found is a match before it is worded as a finding.
type found struct {
	rule    *rule
	path    string // else section
	section string
	line    int
	text    string // of a line: the whole of it, though the rule saw maxLine bytes
	asked   bool   // to be ignored, by a comment
	read    bool   // the text is another form of the line, and not the line itself
	more    int    // like it that are not listed
	failure error  // why an expression could not be evaluated
}

// Agent is the share of one agent in the scan. Agents may run side by side:
// the first that asks scans, the others wait.
func (s *Scan) Agent(id string) dispatch.Agent { return &agent{scan: s, id: id} }

// results scans, unless that is done. Who is cancelled while scanning leaves
// the scan to the next.
func (s *Scan) results(ctx context.Context) ([]found, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if s.done {
		return s.found, nil
	}
	m := s.engine.memory()
	defer func() {
		m.view.file = nil // the change need not stay for it
		m.text.Set("")
		s.engine.memories.Put(m)
	}()
	p := &pass{ctx: ctx, engine: s.engine, memory: m, kept: map[*rule]int{}, more: map[*rule]int{}}
	if err := p.change(s.facts); err != nil {
		return nil, err
	}
	in := expression.Input{Facts: s.facts, Classification: s.classification, Budget: expression.NewBudget()}
	p.conditional(in)
	if err := p.whole(in); err != nil {
		return nil, err
	}
	p.tellMore()
	s.found, s.done = p.found, true
	return s.found, nil
}

// pass is the state of a scan that is under way.
type pass struct {
	ctx    context.Context
	engine *Engine
	found  []found

	file           *pipeline.File
	kind           *kind
	code           bool // the file's lines may have more than one form
	manner         manner
	count          map[*rule]int
	added, removed side           // of the hunk under way
	places         map[place]bool // of the hunk, where rules found something
	pending        []found        // of the hunk under way, by rules that count net
	above          string         // the line before, at the head
	kept           map[*rule]int
	more           map[*rule]int // beyond the bounds
	*memory
}

// place is a line of the hunk under way in which a rule found something.
type place struct {
	rule *rule
	line int
}

// foundIn reports whether the rule found something in the lines from one to another.
func (p *pass) foundIn(r *rule, from, to int) bool {
	for i := from; i <= to; i++ {
		if p.places[place{r, i}] {
			return true
		}
	}
	return false
}

// note notes that the rule found something in a line.
func (p *pass) note(r *rule, line int) {
	if p.places == nil {
		p.places = map[place]bool{}
	}
	p.places[place{r, line}] = true
}

// memory is what a pass needs room for by rule. It is used again and again, so
// that a small change does not pay for the number of rules.
type memory struct {
	view *view
	// The candidates of one line or path: seen holds, by rule, the number of the
	// last one that the rule was a candidate for.
	number     int
	seen       []int
	candidates []*rule
	text       literals.Text
	folded     bool    // the text holds a letter that counts as equal to k or s
	shapes     []shape // of the lines of the hunk under way
}

func (e *Engine) memory() *memory {
	if m, ok := e.memories.Get().(*memory); ok {
		return m
	}
	return &memory{view: newView(e.scopes), seen: make([]int, len(e.rules))}
}

func (p *pass) change(facts *pipeline.PRFacts) error {
	anywhere := map[*rule]bool{}
	for i := range facts.Files {
		if err := p.ctx.Err(); err != nil {
			return err
		}
		p.file, p.count = &facts.Files[i], nil
		p.view.turn(p.file)
		p.kind = p.engine.kindOf(p.view)
		p.code = (p.view.any || !prose[p.file.Language]) && len(p.engine.serious.rules) > 0
		for _, r := range p.engine.messages {
			if r.narrow() && !anywhere[r] && p.view.has(r) {
				anywhere[r] = true
			}
		}
		p.manner = mannerOf(p.file.Language, p.view.any)
		p.names()
		if err := p.hunks(); err != nil {
			return err
		}
	}
	if err := p.ctx.Err(); err != nil {
		return err
	}
	p.messages(facts, anywhere)
	return nil
}

// names runs the rules that look at a file's path.
func (p *pass) names() {
	status := p.file.Status
	arrived := status == pipeline.FileAdded || status == pipeline.FileRenamed || status == pipeline.FileCopied
	path := bounded(p.file.Path, maxText)
	p.number++
	for _, r := range p.candidatesFor(p.engine.paths, p.engine.paths.finder.All(), path, false) {
		if (r.on == config.OnPath && arrived || r.on == config.OnFile && status != pipeline.FileRemoved) && p.mayMatch(r) && r.matchesText(path) {
			p.add(found{rule: r, path: p.file.Path, text: p.file.Path})
		}
	}
}

func (p *pass) hunks() error {
	added, removed := len(p.engine.added.rules) > 0, len(p.engine.removed.rules) > 0
	for h := range p.file.Hunks {
		hunk := &p.file.Hunks[h]
		p.added = newSide(p.file.Language, hunk, pipeline.LineAdded)
		p.removed = newSide(p.file.Language, hunk, pipeline.LineRemoved)
		if p.code {
			p.setShapes(hunk)
		}
		at := hunk.NewStart
		for i := range hunk.Lines {
			l := &hunk.Lines[i]
			if p.number++; p.number%1024 == 0 && p.ctx.Err() != nil {
				return p.ctx.Err()
			}
			var err error
			switch {
			case l.Op == pipeline.LineAdded && added:
				err = p.line(p.engine.added, p.kind.added, &p.added, i, l.New)
			case l.Op == pipeline.LineRemoved && removed:
				err = p.line(p.engine.removed, p.engine.removed.finder.All(), &p.removed, i, p.besideRemoved(hunk, at))
			}
			if err != nil {
				return err
			}
			if l.New > 0 {
				at = l.New + 1
				p.above = l.Text
			}
		}
		p.above = ""
		p.settle(hunk)
		p.statements(hunk)
		p.places = nil
	}
	return nil
}

// besideRemoved is the line on the head's side that stands where a removed
// line stood: the one after it, or the one before it at the end of the hunk.
// A file without lines has none.
func (p *pass) besideRemoved(h *pipeline.Hunk, at int) int {
	if p.file.Status == pipeline.FileRemoved || h.NewLines == 0 {
		return 0
	}
	return min(at, h.NewStart+h.NewLines-1)
}

// slowLine is the length of a line, in bytes, from which on each rule may take
// so long that it is asked first whether anybody still waits.
const slowLine = 16 << 10

// line shows line i of a hunk to the rules that may match it.
func (p *pass) line(l *lineRules, filter *literals.Filter, side *side, i, number int) error {
	whole := side.hunk.Lines[i].Text
	text := bounded(whole, maxLine)
	for _, r := range p.candidatesFor(l, filter, text, p.code && side.op == pipeline.LineAdded && p.shapes[i]&shapeOther == 0) {
		if len(text) > slowLine && p.ctx.Err() != nil {
			return p.ctx.Err()
		}
		if !p.mayMatch(r) {
			continue
		}
		if language := p.view.language(r); !r.matches(side.code(r, language, i, text), language) {
			continue
		}
		f := found{rule: r, path: p.file.Path, line: number, text: whole, asked: asksToIgnore(whole, r.ID) || asksToIgnore(p.above, r.ID)}
		if r.Match.Net {
			p.pending = append(p.pending, f)
		} else {
			p.add(f)
		}
		p.note(r, i)
	}
	if p.code && side.op == pipeline.LineAdded && p.manner.mayHaveForms(p.shapes[i], side.hunk.Lines[i].Text) {
		p.read(side, i)
	}
	return nil
}

// prose are the languages that run nothing: their lines have one form.
var prose = map[string]bool{"Markdown": true, "Text": true, "reStructuredText": true, "AsciiDoc": true, "CSV": true, "Go Checksums": true}

// read shows serious rules the other forms of an added line.
func (p *pass) read(side *side, i int) {
	l := &side.hunk.Lines[i]
	for _, form := range forms(bounded(l.Text, maxLine), p.manner) {
		p.number++
		for _, r := range p.candidatesFor(p.engine.serious, p.kind.serious, form, false) {
			language := p.view.language(r)
			if p.places[place{r, i}] || !p.mayMatch(r) || !r.matches(form, language) || side.whole(r, language, i) {
				continue
			}
			p.note(r, i)
			p.add(found{rule: r, path: p.file.Path, line: l.New, text: form, read: true, asked: asksToIgnore(l.Text, r.ID) || asksToIgnore(p.above, r.ID)})
		}
	}
}

// statements shows serious rules the statements of a hunk that go over several
// lines. One that also matches without its added lines is not new.
func (p *pass) statements(h *pipeline.Hunk) {
	if !p.code {
		return
	}
	p.statementsIn(p.file.Language, h)
	if p.view.any && p.file.Language != "" {
		p.statementsIn("", h)
	}
}

// statementsIn shows the statements to the rules that read the file in the language.
func (p *pass) statementsIn(language string, h *pipeline.Hunk) {
	for _, s := range statements(language, h, p.shapes) {
		if p.ctx.Err() != nil {
			return // which the caller sees
		}
		for _, text := range readingsIn(s.text, p.manner) {
			p.number++
			for _, r := range p.candidatesFor(p.engine.serious, p.kind.serious, text, false) {
				if p.view.language(r) != language || s.remark && !r.comments {
					continue
				}
				if !p.mayMatch(r) || !r.matches(text, language) || p.foundIn(r, s.start, s.last) || s.stood(r, language, h, p.manner) {
					continue
				}
				p.note(r, s.first)
				l := &h.Lines[s.first]
				if s.row {
					text = l.Text // a row says what the lines mean, and not what stands there
				}
				p.add(found{rule: r, path: p.file.Path, line: l.New, text: text, read: true, asked: asksToIgnore(l.Text, r.ID)})
			}
		}
	}
}

// candidatesFor returns the rules that may match a text, in the order of the
// config. They look at the file under way. ascii says that the text is known to be
// ASCII.
func (p *pass) candidatesFor(l *lineRules, filter *literals.Filter, text string, ascii bool) []*rule {
	p.candidates = p.candidates[:0]
	p.text.Set(text)
	for _, r := range l.always {
		p.suggest(r)
	}
	p.folded = false
	if !ascii && !isASCII(text) {
		p.folded = literals.HasFolds(text)
		for _, r := range l.foreign {
			if holdsOneOf(text, r.foreign) {
				p.suggest(r)
			}
		}
	}
	filter.Find(text, func(ids []int, end int) {
		for _, id := range ids {
			for i := range l.owners[id] {
				if o := &l.owners[id][i]; p.mayBe(o.rule) && o.literal.IsAt(text, end) {
					p.suggest(o.rule)
				}
			}
		}
	})
	if p.folded {
		p.unfold(l, filter, text)
	}
	if len(p.candidates) > 1 {
		slices.SortFunc(p.candidates, func(a, b *rule) int { return a.index - b.index })
	}
	return p.candidates
}

// unfold suggests the rules whose literals stand in the text when it is spelt
// with k and s for the letters that count as equal to them. That moves what is
// around the literals, so that no more is asked.
func (p *pass) unfold(l *lineRules, filter *literals.Filter, text string) {
	filter.Find(literals.Unfold(text), func(ids []int, _ int) {
		for _, id := range ids {
			for i := range l.owners[id] {
				p.suggest(l.owners[id][i].rule)
			}
		}
	})
}

// mayBe says whether the rule can still become a candidate.
func (p *pass) mayBe(r *rule) bool { return p.seen[r.index] != p.number && p.view.has(r) }

func (p *pass) suggest(r *rule) {
	if p.mayBe(r) {
		p.seen[r.index] = p.number
		p.candidates = append(p.candidates, r)
	}
}

// mayMatch says whether the text that the rule is a candidate for holds what its
// matches hold.
func (p *pass) mayMatch(r *rule) bool { return p.folded || r.guard.Holds(&p.text) }

// add keeps a match, unless the rule has enough of them in the file. One that a
// comment asks to ignore does not count: it must not stand for the next.
func (p *pass) add(f found) {
	if limit := f.rule.Match.MaxPerFile; limit > 0 && !f.asked {
		if p.count[f.rule] >= limit {
			return
		}
		if p.count == nil {
			p.count = map[*rule]int{}
		}
		p.count[f.rule]++
	}
	p.keep(f)
}

// The bounds of what one scan finds. Every rule that finds something says so at
// least once, whatever the others found, so that nothing severe goes unsaid.
const (
	maxFound        = 20_000
	maxFoundPerRule = 1_000
)

func (p *pass) keep(f found) {
	n := p.kept[f.rule]
	if n >= maxFoundPerRule || n > 0 && len(p.found) >= maxFound {
		p.more[f.rule]++
		return
	}
	p.kept[f.rule]++
	p.found = append(p.found, f)
}

// tellMore has the last finding of a rule say how many there are beyond it.
func (p *pass) tellMore() {
	for i := len(p.found) - 1; i >= 0 && len(p.more) > 0; i-- {
		f := &p.found[i]
		f.more = p.more[f.rule]
		delete(p.more, f.rule)
	}
}

// asksToIgnore reports whether a line may ask to ignore what a rule finds.
// Whether that is granted is decided where findings are put together.
func asksToIgnore(line, rule string) bool {
	return strings.Contains(line, "reviewgate:ignore") && strings.Contains(line, rule)
}

// narrow says whether the rule names the files that it is for.
func (r *rule) narrow() bool {
	return len(r.Match.Paths)+len(r.Match.ExcludePaths)+len(r.Match.Languages) > 0 || !r.tests
}

// messages runs the rules that look at what people wrote about the change. A
// rule that names paths or languages does so only where a file fits them.
func (p *pass) messages(facts *pipeline.PRFacts, anywhere map[*rule]bool) {
	for _, r := range p.engine.messages {
		if r.narrow() && !anywhere[r] {
			continue
		}
		switch r.on {
		case config.OnTitle:
			p.message(r, pipeline.SectionTitle, facts.Title)
		case config.OnBody:
			p.message(r, pipeline.SectionDescription, facts.Body)
		case config.OnCommitMessage:
			for i := range facts.Commits {
				p.message(r, pipeline.SectionCommit(facts.Commits[i].SHA), facts.Commits[i].Message)
			}
		}
	}
}

func (p *pass) message(r *rule, section, text string) {
	if text = bounded(text, maxText); r.matchesText(text) {
		p.keep(found{rule: r, section: section, text: text})
	}
}

// conditional takes out what rules with a condition found where that does not
// hold. One that can't be evaluated takes nothing out.
func (p *pass) conditional(in expression.Input) {
	holds := map[*rule]bool{}
	p.found = slices.DeleteFunc(p.found, func(f found) bool {
		if f.rule.when == nil {
			return false
		}
		held, known := holds[f.rule]
		if !known {
			var err error
			held, err = f.rule.when.Holds(in)
			held = held || err != nil
			holds[f.rule] = held
		}
		return !held
	})
}

// whole evaluates the expressions. One that can't be evaluated is found too:
// nobody knows that what it looks for is not there.
func (p *pass) whole(in expression.Input) error {
	for _, r := range p.engine.whole {
		if err := p.ctx.Err(); err != nil {
			return err
		}
		if holds, err := r.when.Holds(in); holds || err != nil {
			p.keep(found{rule: r, section: pipeline.SectionChange, failure: err})
		}
	}
	return nil
}
