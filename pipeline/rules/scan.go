package rules

import (
	"context"
	"slices"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
)

// Scan is one pass of all rules over one change, shared by its agents.
type Scan struct {
	engine *Engine
	facts  *pipeline.PRFacts
	turn   chan struct{} // held by who scans
	done   bool
	found  []found // in the order of the change
}

// found is a match before it is worded as a finding.
type found struct {
	rule    *rule
	path    string // else section
	section string
	line    int
	text    string // of a line: the whole of it, though the rule saw maxLine bytes
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
	p := &pass{ctx: ctx, engine: s.engine, active: make([]bool, len(s.engine.rules)), seen: make([]int, len(s.engine.rules))}
	if err := p.change(s.facts); err != nil {
		return nil, err
	}
	s.found, s.done = p.found, true
	return s.found, nil
}

// pass is the state of a scan that is under way.
type pass struct {
	ctx    context.Context
	engine *Engine
	found  []found

	file   *pipeline.File
	active []bool // by rule: does it look at this file?
	count  map[*rule]int

	// The candidates of one line: seen holds, by rule, the number of the last
	// line the rule was a candidate for.
	number     int
	seen       []int
	candidates []*rule
}

func (p *pass) change(facts *pipeline.PRFacts) error {
	anywhere := make([]bool, len(p.active))
	for i := range facts.Files {
		if err := p.ctx.Err(); err != nil {
			return err
		}
		p.file, p.count = &facts.Files[i], map[*rule]int{}
		p.engine.scopes.apply(p.file, p.active)
		for r, a := range p.active {
			anywhere[r] = anywhere[r] || a
		}
		p.names()
		if err := p.hunks(); err != nil {
			return err
		}
	}
	p.messages(facts, anywhere)
	return nil
}

// names runs the rules that look at a file's path.
func (p *pass) names() {
	for _, r := range p.engine.paths {
		if !p.active[r.index] || !r.matches(bounded(p.file.Path, maxText)) {
			continue
		}
		status := p.file.Status
		arrived := status == pipeline.FileAdded || status == pipeline.FileRenamed || status == pipeline.FileCopied
		if r.on == config.OnPath && arrived || r.on == config.OnFile && status != pipeline.FileRemoved {
			p.add(r, 0, p.file.Path)
		}
	}
}

func (p *pass) hunks() error {
	added, removed := p.anyActive(p.engine.added), p.anyActive(p.engine.removed)
	if !added && !removed {
		return nil
	}
	for h := range p.file.Hunks {
		hunk := &p.file.Hunks[h]
		at := hunk.NewStart
		for i := range hunk.Lines {
			l := &hunk.Lines[i]
			if p.number++; p.number%1024 == 0 && p.ctx.Err() != nil {
				return p.ctx.Err()
			}
			switch {
			case l.Op == pipeline.LineAdded && added:
				p.line(p.engine.added, l.Text, l.New)
			case l.Op == pipeline.LineRemoved && removed:
				p.line(p.engine.removed, l.Text, p.besideRemoved(hunk, at))
			}
			if l.New > 0 {
				at = l.New + 1
			}
		}
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

func (p *pass) anyActive(l *lineRules) bool {
	return slices.ContainsFunc(l.rules, func(r *rule) bool { return p.active[r.index] })
}

// line shows one line to the rules that may match it.
func (p *pass) line(l *lineRules, whole string, number int) {
	text := bounded(whole, maxLine)
	p.candidates = p.candidates[:0]
	p.suggest(l.always)
	l.matcher.Find(text, func(ids []int, _ int) {
		for _, id := range ids {
			if id >= l.fold {
				p.suggest(l.rules)
			} else {
				p.suggest(l.owners[id])
			}
		}
	})
	if len(p.candidates) > 1 {
		slices.SortFunc(p.candidates, func(a, b *rule) int { return a.index - b.index })
	}
	for _, r := range p.candidates {
		if r.matches(text) {
			p.add(r, number, whole)
		}
	}
}

func (p *pass) suggest(rules []*rule) {
	for _, r := range rules {
		if p.active[r.index] && p.seen[r.index] != p.number {
			p.seen[r.index] = p.number
			p.candidates = append(p.candidates, r)
		}
	}
}

func (p *pass) add(r *rule, line int, text string) {
	if limit := r.Match.MaxPerFile; limit > 0 {
		if p.count[r] >= limit {
			return
		}
		p.count[r]++
	}
	p.found = append(p.found, found{rule: r, path: p.file.Path, line: line, text: text})
}

// messages runs the rules that look at what people wrote about the change. A
// rule that names paths or languages does so only where a file fits them.
func (p *pass) messages(facts *pipeline.PRFacts, anywhere []bool) {
	for _, r := range p.engine.messages {
		narrow := len(r.Match.Paths)+len(r.Match.ExcludePaths)+len(r.Match.Languages) > 0 || !r.tests
		if narrow && !anywhere[r.index] {
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
	if text = bounded(text, maxText); r.matches(text) {
		p.found = append(p.found, found{rule: r, section: section, text: text})
	}
}
