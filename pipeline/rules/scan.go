package rules

import (
	"context"
	"slices"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/pipeline/internal/linters"
	"github.com/reviewgate/reviewgate/pipeline/internal/literals"
	"github.com/reviewgate/reviewgate/policies/expression"
)

// Scan is one pass of all rules over one change, shared by its agents.
type Scan struct {
	engine         *Engine
	facts          *pipeline.PRFacts
	classification *pipeline.Classification
	running        chan struct{}          // full while an agent runs the scan
	ignored        func(path string) bool // may be nil
	done           bool
	matches        []match           // in the order of the change
	lookers        []map[string]bool // for each file, the agents with a rule that reads its text
	beyond         []beyond          // in the order of the change
}

// match is a place where a rule matches, before it becomes a finding.
type match struct {
	rule        *rule
	path        string // empty if the match is in section
	section     string
	line        int
	text        string // the whole line, even if the rule saw only maxLine bytes of it
	code        string // the code as it is written if text is another form of it, or empty
	ignoreAsked bool   // a comment asks to ignore it
	from        string // the other file of the change in which it stood before; see past
	before      int    // how many such places the base has in the directory, if the rule is on style
	more        int    // how many further matches of the rule are not listed, whatever its limit is
	unlisted    int    // it stands for so many matches anywhere in the change
	evalErr     error  // why the expression could not be evaluated
}

// beyond counts the matches of a rule in a file that its limit leaves out.
type beyond struct {
	rule *rule
	path string
	n    int
}

// Ignoring tells the scan which paths the config ignores. What moves out of such a file is new.
func (s *Scan) Ignoring(ignored func(path string) bool) *Scan {
	s.ignored = ignored
	return s
}

// Agent is the share of one agent in the scan. Agents may run side by side: the
// first one that needs the results runs the scan, and the others wait.
func (s *Scan) Agent(id string) dispatch.Agent { return &agent{scan: s, id: id} }

// results runs the scan unless it is done. If the caller is cancelled during the
// scan, the next caller runs it.
func (s *Scan) results(ctx context.Context) ([]match, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case s.running <- struct{}{}:
		defer func() { <-s.running }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if s.done {
		return s.matches, nil
	}
	m := s.engine.scratch()
	defer func() {
		m.view.file = nil // lets the change be freed
		m.text.Set("")
		s.engine.scratches.Put(m)
	}()
	p := &pass{ctx: ctx, engine: s.engine, scratch: m, past: past{files: s.facts.Files, ignored: s.ignored}, listed: map[bound]int{}, more: map[bound]int{}}
	if err := p.change(s.facts); err != nil {
		return nil, err
	}
	if err := p.refuted(s.facts); err != nil {
		return nil, err
	}
	p.bundled(s.facts)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p.matches = slices.DeleteFunc(p.matches, func(f match) bool { return f.rule.early(f.text, s.facts.ObservedAt) })
	p.countUnlisted()
	in := expression.Input{Facts: s.facts, Classification: s.classification, Budget: expression.NewBudget()}
	p.conditional(in)
	p.countHouseStyle()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := p.whole(in); err != nil {
		return nil, err
	}
	s.matches, s.lookers, s.beyond, s.done = p.matches, p.lookers, p.stillBeyond(), true
	return s.matches, nil
}

// pass is the state of a running scan.
type pass struct {
	ctx     context.Context
	engine  *Engine
	matches []match

	file           *pipeline.File
	at             spot // of the file and the hunk
	past           past
	kind           *kind
	code           bool // the file's lines may have more than one form
	dialect        dialect
	count          map[*rule]int
	added, removed side           // of the current hunk
	places         map[place]bool // the matches in the current hunk
	pending        []netMatch     // in the current block of changed lines
	// The sides of the current hunk, read up to the current block. Only rules that count net read them.
	addedBefore, removedBefore side
	above                      string        // the previous line at the head
	linters                    *linters.Hunk // of the current hunk; nil until a rule asks
	listed                     map[bound]int
	more                       map[bound]int // matches beyond the bounds
	ignored                    ignored       // the last path that list asked about
	beyond                     []beyond
	lookers                    []map[string]bool
	readded                    map[string]bool // see addedLines; nil until a rule needs them
	*scratch
}

// place is a line of the current hunk in which a rule matched.
type place struct {
	rule *rule
	line int
}

// matchedIn reports whether the rule matched in the lines first to last.
func (p *pass) matchedIn(r *rule, from, to int) bool {
	for i := from; i <= to; i++ {
		if p.places[place{r, i}] {
			return true
		}
	}
	return false
}

// setMatched records that the rule matched in a line.
func (p *pass) setMatched(r *rule, line int) {
	if p.places == nil {
		p.places = map[place]bool{}
	}
	p.places[place{r, line}] = true
}

// scratch holds the buffers of a pass that grow with the number of rules. Passes
// reuse them, so that a small change does not pay for the number of rules.
type scratch struct {
	view *view
	// The candidates of the current line or path. seen holds, by rule, the number of
	// the last line or path for which the rule became a candidate.
	number     int
	seen       []int
	candidates []*rule
	text       literals.Text
	folded     bool    // the text holds a letter that case folding makes equal to k or s
	shapes     []shape // of the lines of the current hunk
}

func (e *Engine) scratch() *scratch {
	if m, ok := e.scratches.Get().(*scratch); ok {
		return m
	}
	return &scratch{view: newView(e.scopes), seen: make([]int, len(e.rules))}
}

func (p *pass) change(facts *pipeline.PRFacts) error {
	anywhere := map[*rule]bool{}
	for i := range facts.Files {
		if err := p.ctx.Err(); err != nil {
			return err
		}
		p.file, p.count, p.at.file = &facts.Files[i], nil, i
		p.view.setFile(p.file)
		p.kind = p.engine.kindOf(p.view)
		p.lookers = append(p.lookers, p.kind.lookers(p.file.Status))
		p.code = (p.view.anyLanguage || !prose[p.file.Language]) && len(p.engine.serious.rules) > 0
		for _, r := range p.engine.messages {
			if r.narrow() && !anywhere[r] && p.view.applies(r) {
				anywhere[r] = true
			}
		}
		p.dialect = dialectOf(p.file.Language, p.view.anyLanguage)
		p.paths()
		if err := p.hunks(); err != nil {
			return err
		}
		for _, r := range p.kind.rules {
			if more := p.count[r] - r.Match.MaxPerFile; more > 0 {
				p.beyond = append(p.beyond, beyond{r, p.file.Path, more})
			}
		}
	}
	if err := p.ctx.Err(); err != nil {
		return err
	}
	p.messages(facts, anywhere)
	return nil
}

// paths runs the rules that look at a file's path.
func (p *pass) paths() {
	status := p.file.Status
	arrived := status == pipeline.FileAdded || status == pipeline.FileRenamed || status == pipeline.FileCopied
	path := bounded(p.file.Path, maxText)
	p.number++
	for _, r := range p.candidatesFor(p.engine.paths, p.engine.paths.finder.All(), path, false) {
		if (r.on == config.OnPath && arrived || r.on == config.OnFile && status != pipeline.FileRemoved) && p.mayMatch(r) && r.matchesText(path) {
			p.add(match{rule: r, path: p.file.Path, text: p.file.Path})
		}
	}
}

func (p *pass) hunks() error {
	added, removed := len(p.engine.added.rules) > 0, len(p.engine.removed.rules) > 0
	for h := range p.file.Hunks {
		hunk := &p.file.Hunks[h]
		p.at.hunk = h
		p.added = newSide(p.file.Language, hunk, pipeline.LineAdded)
		p.removed = newSide(p.file.Language, hunk, pipeline.LineRemoved)
		p.addedBefore, p.removedBefore = p.added, p.removed
		if p.code {
			p.setShapes(hunk)
		}
		at, block := hunk.NewStart, 0
		for i := range hunk.Lines {
			l := &hunk.Lines[i]
			if l.Op == pipeline.LineContext {
				p.settle(hunk, block, i)
				block = i + 1
			}
			if p.number++; p.number%1024 == 0 && p.ctx.Err() != nil {
				return p.ctx.Err()
			}
			var err error
			switch {
			case l.Op == pipeline.LineAdded && added:
				err = p.line(p.engine.added, p.kind.added, &p.added, i, l.New)
			case l.Op == pipeline.LineRemoved && removed:
				err = p.line(p.engine.removed, p.engine.removed.finder.All(), &p.removed, i, besideRemoved(p.file, hunk, at))
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
		p.settle(hunk, block, len(hunk.Lines))
		p.statements(hunk)
		p.places, p.linters = nil, nil
	}
	return nil
}

// besideRemoved is the line on the head's side where a removed line was: the line
// after it, or the line before it at the end of the hunk. A file without lines has
// none.
func besideRemoved(f *pipeline.File, h *pipeline.Hunk, at int) int {
	if f.Status == pipeline.FileRemoved || h.NewLines == 0 {
		return 0
	}
	return min(at, h.NewStart+h.NewLines-1)
}

// slowLine is the length of a line, in bytes, from which each rule may take so long
// that cancellation is checked before each.
const slowLine = 16 << 10

// line matches line i of a hunk against the rules that may match it.
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
		f := match{rule: r, path: p.file.Path, line: number, text: whole, ignoreAsked: p.asks(r, side.hunk, i, p.above)}
		if r.countsNet() {
			p.pending = append(p.pending, netMatch{f, side.op, i})
		} else {
			p.addNew(f, side.op, i)
		}
		p.setMatched(r, i)
	}
	if p.code && side.op == pipeline.LineAdded && p.dialect.mayHaveForms(p.shapes[i], side.hunk.Lines[i].Text) {
		p.otherForms(side, i)
	}
	return nil
}

// prose are languages that run nothing. Their lines have only one form.
var prose = map[string]bool{"Markdown": true, "Text": true, "reStructuredText": true, "AsciiDoc": true, "CSV": true, "Go Checksums": true}

// otherForms matches the other forms of an added line against serious rules.
func (p *pass) otherForms(side *side, i int) {
	l := &side.hunk.Lines[i]
	for _, form := range forms(bounded(l.Text, maxLine), p.dialect) {
		p.number++
		for _, r := range p.candidatesFor(p.engine.serious, p.kind.serious, form, false) {
			language := p.view.language(r)
			if p.places[place{r, i}] || !p.mayMatch(r) || !r.matches(form, language) || side.isSkippedComment(r, language, i) {
				continue
			}
			p.setMatched(r, i)
			p.add(match{rule: r, path: p.file.Path, line: l.New, text: form, code: l.Text, ignoreAsked: p.asks(r, side.hunk, i, p.above)})
		}
	}
}

// statements matches the statements of a hunk that span several lines against
// serious rules. A statement that also matches without its added lines is not new.
func (p *pass) statements(h *pipeline.Hunk) {
	if !p.code {
		return
	}
	p.statementsIn(p.file.Language, h)
	if p.view.anyLanguage && p.file.Language != "" {
		p.statementsIn("", h)
	}
}

// statementsIn does so for the rules that read the file in the language.
func (p *pass) statementsIn(language string, h *pipeline.Hunk) {
	for _, s := range statements(language, h, p.shapes) {
		if p.ctx.Err() != nil {
			return // the caller checks the context
		}
		for _, text := range readingsIn(s.text, p.dialect) {
			p.number++
			for _, r := range p.candidatesFor(p.engine.serious, p.kind.serious, text, false) {
				if p.view.language(r) != language || s.maybeComment && !r.comments {
					continue
				}
				if !p.mayMatch(r) || !r.matches(text, language) || p.matchedIn(r, s.start, s.last) || s.matchedBefore(r, language, h, p.dialect) {
					continue
				}
				p.setMatched(r, s.first)
				l := &h.Lines[s.first]
				p.add(match{rule: r, path: p.file.Path, line: l.New, text: text, code: s.written(h), ignoreAsked: p.asks(r, h, s.first, "")})
			}
		}
	}
}

// candidatesFor returns the rules that may match a text, in the order of the
// config. All of them look at the current file. If ascii is set, the text is known
// to be ASCII.
func (p *pass) candidatesFor(l *lineRules, filter *literals.Filter, text string, ascii bool) []*rule {
	p.candidates = p.candidates[:0]
	p.text.Set(text)
	for _, r := range l.always {
		p.suggest(r)
	}
	p.folded = false
	if !ascii && !isASCII(text) {
		p.folded = literals.HasFolds(text)
		for _, r := range l.nonASCII {
			if holdsOneOf(text, r.nonASCII) {
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

// unfold suggests the rules whose literals stand in the text once k and s replace
// the letters that case folding makes equal to them. The replacement moves what
// surrounds the literals, so nothing else is checked.
func (p *pass) unfold(l *lineRules, filter *literals.Filter, text string) {
	filter.Find(literals.Unfold(text), func(ids []int, _ int) {
		for _, id := range ids {
			for i := range l.owners[id] {
				p.suggest(l.owners[id][i].rule)
			}
		}
	})
}

// mayBe reports whether the rule can still become a candidate.
func (p *pass) mayBe(r *rule) bool { return p.seen[r.index] != p.number && p.view.applies(r) }

func (p *pass) suggest(r *rule) {
	if p.mayBe(r) {
		p.seen[r.index] = p.number
		p.candidates = append(p.candidates, r)
	}
}

// mayMatch reports whether the text holds everything that a match of the candidate
// rule must hold.
func (p *pass) mayMatch(r *rule) bool { return p.folded || r.guard.Holds(&p.text) }

// addNew keeps a match in line i of the hunk, unless it stood in the change's base. A match that stood in another file is kept aside of all limits, because only the
// agent knows whether that file is its own.
func (p *pass) addNew(f match, op pipeline.LineOp, i int) {
	if op == pipeline.LineAdded {
		at := p.at
		at.line = i
		if from, ok := p.stood(f.rule, at); ok {
			if from != f.path {
				f.from = from
				p.matches = append(p.matches, f)
			}
			return
		}
	}
	p.add(f)
}

// add keeps a match unless the rule has reached its limit for the file, or leaves out what moved. A
// match that a comment asks to ignore does not count towards the limit, so it can't hide the next.
func (p *pass) add(f match) {
	if !f.rule.moved && p.isAddedAgain(f.text) {
		return
	}
	if limit := f.rule.Match.MaxPerFile; limit > 0 && !f.ignoreAsked {
		if p.count == nil {
			p.count = map[*rule]int{}
		}
		if p.count[f.rule]++; p.count[f.rule] > limit {
			return
		}
	}
	p.list(f)
}

// The bounds of the matches of one scan. Every rule that matches keeps at least one,
// whatever the other rules match, so nothing severe is lost.
const (
	maxMatches        = 20_000
	maxMatchesPerRule = 1_000
)

// bound counts the matches of a rule in files that the config ignores apart from the others:
// whoever may write such files must not use up the room of the others.
type bound struct {
	rule    *rule
	ignored bool
}

// ignored is whether the config ignores a path.
type ignored struct {
	path string
	is   bool
}

func (p *pass) boundOf(f *match) bound {
	if f.path == "" || f.rule.Final || p.past.ignored == nil {
		return bound{rule: f.rule}
	}
	if p.ignored.path != f.path {
		p.ignored = ignored{f.path, p.past.ignored(f.path)}
	}
	return bound{f.rule, p.ignored.is}
}

func (p *pass) list(f match) {
	b := p.boundOf(&f)
	n := p.listed[b]
	if n >= maxMatchesPerRule || n > 0 && len(p.matches) >= maxMatches {
		p.more[b]++
		return
	}
	p.listed[b]++
	p.matches = append(p.matches, f)
}

// countUnlisted adds a match about the whole change for each rule with matches beyond the bounds.
// It has no place, so nothing that takes out the listed matches takes it out, too. Only in ignored
// files the last match counts them, since the config takes out all of these.
func (p *pass) countUnlisted() {
	if len(p.more) == 0 {
		return
	}
	left := map[*rule]bool{}
	for i := len(p.matches) - 1; i >= 0; i-- {
		f := &p.matches[i]
		left[f.rule] = true
		if b := p.boundOf(f); b.ignored && f.from == "" {
			f.more = p.more[b]
			delete(p.more, b)
		}
	}
	for _, r := range slices.Concat(p.engine.rules, p.engine.whole) {
		gone := r.Match != nil && r.notInChange != nil && !left[r] // what refutes one refutes all
		if n := p.more[bound{rule: r}]; n > 0 && !gone {
			p.matches = append(p.matches, match{rule: r, section: pipeline.SectionChange, unlisted: n})
		}
	}
}

// stillBeyond are the matches beyond limits of rules that still have a match in the file.
func (p *pass) stillBeyond() []beyond {
	if len(p.beyond) == 0 {
		return nil
	}
	type place struct {
		rule *rule
		path string
	}
	has := map[place]bool{}
	for i := range p.matches {
		has[place{p.matches[i].rule, p.matches[i].path}] = true
	}
	return slices.DeleteFunc(p.beyond, func(b beyond) bool { return !has[place{b.rule, b.path}] })
}

// narrow reports whether the rule is limited to certain files.
func (r *rule) narrow() bool {
	return len(r.Match.Paths)+len(r.Match.ExcludePaths)+len(r.Match.Languages) > 0 || !r.tests
}

// messages runs the rules that look at the title, description and commit messages.
// A rule that names paths or languages runs only if a file of the change fits them.
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
		p.list(match{rule: r, section: section, text: text})
	}
}

// conditional removes the matches of rules whose condition does not hold. A
// condition that can't be evaluated removes nothing.
func (p *pass) conditional(in expression.Input) {
	holds := map[*rule]bool{}
	p.matches = slices.DeleteFunc(p.matches, func(f match) bool {
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

// whole evaluates the expressions. One that can't be evaluated counts as a match,
// since nobody knows whether it holds.
func (p *pass) whole(in expression.Input) error {
	for _, r := range p.engine.whole {
		if err := p.ctx.Err(); err != nil {
			return err
		}
		holds, err := r.when.Holds(in)
		switch {
		case err != nil:
			p.list(match{rule: r, section: pipeline.SectionChange, evalErr: err})
		case holds:
			p.list(p.placed(r, r.when.Place(in)))
		}
	}
	return nil
}

// placed is a match of a rule's expression at the place that makes it hold: a line, the first line of a
// hunk, or a file. In a file that the config ignores it has no place, since it may hold elsewhere, too.
func (p *pass) placed(r *rule, at expression.Place) match {
	if at.File == nil || p.past.ignored != nil && p.past.ignored(at.File.Path) {
		return match{rule: r, section: pipeline.SectionChange}
	}
	m := match{rule: r, path: at.File.Path}
	if at.Hunk == nil {
		return m
	}
	beside := at.Hunk.NewStart
	for i := range at.Hunk.Lines {
		l := &at.Hunk.Lines[i]
		switch {
		case l == at.Line && l.Op != pipeline.LineRemoved:
			m.line, m.text = l.New, l.Text
			return m
		case l == at.Line:
			m.text = l.Text
			m.line = besideRemoved(at.File, at.Hunk, beside)
			return m
		case l.New > 0:
			beside = l.New + 1
		}
	}
	m.line = besideRemoved(at.File, at.Hunk, at.Hunk.NewStart)
	return m
}
