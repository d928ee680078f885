package render

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/normalize"
)

// agentRun says what an agent did, and why it was dispatched.
type agentRun struct {
	Agent    safe
	Model    safe
	Runs     int // how often it was asked; 0 means once
	Status   word
	Required bool
	Files    int  // 0: the whole change
	Ruled    int  // files in its scope that its rules look at, or that an agent without rules read
	Unruled  int  // the other files in its scope
	Except   bool // some of these files were not read, or not in full
	Handed   bool // its output was handed in; it was not dispatched
	Gaps     bool // it only looked for gaps in the config
	Matches  bool // it only said which findings are about the same problem
	Verifies bool // it only checked the findings of other agents
	Findings int
	Shared   int // findings that are shown under the names of other agents
	Aside    int // findings that do not count
	Dropped  int
	Why      []safe
	Note     safe
}

// coverageWords puts into words what the agents read, which agents ran, and why.
type coverageWords struct {
	r *pipeline.Review
	p pen
}

func (s sections) coverageWords() coverageWords { return coverageWords{s.r, s.p} }

// coverage lists the agents that ran, with their files and reasons; the names of those that
// did not run; the files that were read in part or not at all; the files' domains; and
// the condition that decided.
func (s sections) coverage() items {
	cw := s.coverageWords()
	list := listOf(cw.agents()).then(listOf(cw.unneeded())).then(listOf(cw.exceptions())).then(s.incomplete(false)).then(cw.domains())
	for _, one := range []safe{cw.unclassified(), cw.change(), s.decidedBy()} {
		if one != "" {
			list = list.then(listOf([]safe{one}))
		}
	}
	return list
}

// unneeded names the agents that ran only in evaluation, and those that did not run, in one line each.
// /review explain and the report give the reason for each.
func (cw coverageWords) unneeded() (out []safe) {
	evaluated := func(a pipeline.SkippedAgent) bool {
		e := cw.r.Report.Evaluation
		return e != nil && slices.ContainsFunc(e.Coverage, func(c pipeline.Coverage) bool { return c.Agent == a.Agent })
	}
	const most = 50
	name := func(a pipeline.SkippedAgent) safe { return cw.p.text(a.Agent, maxName) }
	if ran := keep(cw.r.Manifest.Skipped, evaluated); len(ran) > 0 {
		out = append(out, say("agents evaluated", first(ran, most, name)))
	}
	if skipped := keep(cw.r.Manifest.Skipped, func(a pipeline.SkippedAgent) bool { return !evaluated(a) }); len(skipped) > 0 {
		out = append(out, say("agents unneeded", first(skipped, most, name)))
	}
	return out
}

// agents lists the agents of the manifest, with a line for each model, and then the
// agents whose outputs were handed in. Agents that did not finish come first.
func (cw coverageWords) agents() []safe {
	rows := map[string][]*pipeline.Coverage{}
	for i := range cw.r.Report.Coverage {
		c := &cw.r.Report.Coverage[i]
		rows[c.Agent] = append(rows[c.Agent], c)
	}
	var failed, fine []safe
	put := func(a agentRun, c *pipeline.Coverage) {
		if c != nil {
			a.Status, a.Findings, a.Dropped = statusWord(c.Status), c.Findings, c.Dropped
			if c.Model != c.Agent { // a remote reviewer's model has the name of its agent
				a.Model = cw.p.text(c.Model, maxName)
			}
			a.Note = cw.p.text(strings.TrimRight(c.Note, ". "), maxReason)
			a.Shared, a.Runs, a.Aside = c.Shared, c.Runs, cw.aside(c)
			a.Unruled = min(a.Ruled, c.WithoutRule)
			a.Ruled -= a.Unruled
		}
		switch pipeline.AgentStatus(a.Status) {
		case pipeline.AgentOK, pipeline.AgentNotAsked, pipeline.AgentWaiting:
			fine = append(fine, say("agent ran", a))
		default:
			failed = append(failed, say("agent ran", a))
		}
	}
	for i := range cw.r.Manifest.Entries {
		e := &cw.r.Manifest.Entries[i]
		a := agentRun{Agent: cw.p.text(e.Agent, maxName), Required: e.Required, Files: len(e.Scope.Files), Except: cw.except(&e.Scope), Why: cw.why(e)}
		if a.Ruled = a.Files; e.Scope.All {
			a.Ruled = len(cw.r.Facts.Files)
		}
		for _, c := range rows[e.Agent] {
			put(a, c)
		}
		if len(rows[e.Agent]) == 0 {
			put(a, nil)
		}
		delete(rows, e.Agent)
	}
	for i := range cw.r.Report.Coverage {
		if c := &cw.r.Report.Coverage[i]; rows[c.Agent] != nil {
			put(agentRun{Agent: cw.p.text(c.Agent, maxName), Handed: true, Gaps: c.Agent == pipeline.GapDetector, Matches: c.Agent == pipeline.Matcher, Verifies: c.Agent == pipeline.Verifier}, c)
		}
	}
	return append(failed, fine...)
}

// aside counts the suppressed findings of an agent or, if it has several models, of one of them.
func (cw coverageWords) aside(c *pipeline.Coverage) (n int) {
	for i := range cw.r.Report.Suppressed {
		if f := &cw.r.Report.Suppressed[i].Finding; f.Agent == c.Agent && (f.Model == "" || f.Model == c.Model) {
			n++
		}
	}
	return n
}

func statusWord(s pipeline.AgentStatus) word {
	switch s {
	case pipeline.AgentOK, pipeline.AgentFailed, pipeline.AgentTimedOut, pipeline.AgentMalformed,
		pipeline.AgentSkipped, pipeline.AgentDiscarded, pipeline.AgentWaiting, pipeline.AgentNotAsked:
		return word(s)
	}
	return ""
}

func (cw coverageWords) why(e *pipeline.ManifestEntry) []safe {
	const maxPolicies, maxTrigger = 4, 240
	out := first(e.Policies, maxPolicies, func(m pipeline.PolicyMatch) safe {
		return say("policy", struct{ Policy, Trigger safe }{
			cw.p.code(m.Policy, maxName), cw.p.text(shortGlobs(m.Trigger), maxTrigger),
		})
	})
	if by := cw.gapOf(e); by != "" {
		out = append(out, by)
	}
	return out
}

// gapOf says for which file gap detection asked an agent to look, or returns "".
func (cw coverageWords) gapOf(e *pipeline.ManifestEntry) safe {
	var v struct {
		Path, Concern safe
		More          int
	}
	paths := map[string]bool{}
	for i := range cw.r.Report.GapLog {
		g := &cw.r.Report.GapLog[i]
		if !slices.Contains(sent(g), e.Agent) {
			continue
		}
		if len(paths) == 0 {
			v.Path, v.Concern = cw.p.code(clipPath(g.Path, maxPath), maxPath), cw.p.text(cmp.Or(g.Name, g.Concern), maxName)
		}
		paths[g.Path] = true
	}
	if len(paths) == 0 && e.AddedBy != pipeline.AddedByGapDetect {
		return ""
	}
	v.More = max(0, len(paths)-1)
	return say("asked by gap-detect", v)
}

// alternatives are a glob's alternatives in braces.
var alternatives = regexp.MustCompile(`\{[^{}]*,[^{}]*\}`)

// shortGlobs shortens long lists of alternatives in the globs of a text: {go,py,ts,c,h} becomes
// {go,py,ts and 2 more}.
func shortGlobs(text string) string {
	const most = 3
	return alternatives.ReplaceAllStringFunc(text, func(list string) string {
		all := strings.Split(strings.Trim(list, "{}"), ",")
		if len(all) <= most+1 {
			return list
		}
		return fmt.Sprintf("{%s and %d more}", strings.Join(all[:most], ","), len(all)-most)
	})
}

// except reports whether an agent with this scope could not read all of its files in
// full.
func (cw coverageWords) except(scope *pipeline.AgentScope) bool {
	for i := range cw.r.Facts.Files {
		if f := &cw.r.Facts.Files[i]; exceptional(f) && scope.Has(f.Path) {
			return true
		}
	}
	return slices.ContainsFunc(cw.r.Report.Incomplete, func(i pipeline.Incompleteness) bool {
		return i.What == "files" && scope.All || (i.What == "files" || i.What == "patch") && i.Path != "" && scope.Has(i.Path)
	})
}

// exceptions lists the files that only some rules read, and the files that no agent
// reads in full.
func (cw coverageWords) exceptions() []safe {
	const maxFiles = 20
	type group struct {
		Files []safe
		More  int
	}
	var partly, secrets, unread group
	add := func(g *group, file safe) {
		if len(g.Files) == maxFiles {
			g.More++
			return
		}
		g.Files = append(g.Files, file)
	}
	listed := map[string]bool{}
	// Gaps that block the gate come first; other gaps have their own lines.
	for i := range cw.r.Report.Incomplete {
		gap := &cw.r.Report.Incomplete[i]
		if !gap.Gating || gap.What != "patch" && gap.What != "files" {
			continue
		}
		why := cw.p.text(strings.TrimRight(gap.Why, ". "), maxReason)
		if gap.Path == "" {
			add(&unread, say("unread files", why))
			continue
		}
		listed[gap.Path] = true
		add(&unread, say("exception", struct{ Path, Why safe }{cw.p.code(clipPath(gap.Path, maxPath), maxPath), why}))
	}
	for i := range cw.r.Facts.Files {
		f := &cw.r.Facts.Files[i]
		why, g := exception(f), &partly
		switch {
		case f.Binary:
			g = &unread
		case f.ByBase:
			g = &secrets
		}
		if why != "" && !listed[f.Path] {
			add(g, say("exception", struct{ Path, Why safe }{cw.p.code(clipPath(f.Path, maxPath), maxPath), why}))
		}
	}
	var out []safe
	if len(partly.Files) > 0 {
		out = append(out, say("partly read", partly))
	}
	if len(secrets.Files) > 0 {
		out = append(out, say("read for secrets", secrets))
	}
	if len(unread.Files) > 0 {
		out = append(out, say("not read", unread))
	}
	return out
}

// exceptional reports whether a file is not read like most files.
func exceptional(f *pipeline.File) bool {
	return f.Binary || f.GeneratedByPath || f.Vendored || f.ByBase
}

// exception says why a file is not read like most files, or returns "".
func exception(f *pipeline.File) safe {
	switch {
	case f.Binary:
		return say("binary", nil)
	case f.GeneratedByPath:
		return say("generated", !normalize.WithoutAttributes(*f).GeneratedByPath)
	case f.Vendored:
		return say("vendored", !normalize.WithoutAttributes(*f).Vendored)
	}
	return ""
}

// change says how the change was classified.
func (cw coverageWords) change() safe {
	c := &cw.r.Classification
	var v struct{ Type, Size, Risk safe }
	if c.Type != "" {
		v.Type = say("change type", struct{ Type, Source safe }{cw.p.text(c.Type, maxName), cw.p.text(c.TypeSource, maxName)})
	}
	if c.Scope.Size.Rank() > 0 {
		v.Size = say("change size", struct {
			Size  word
			Lines int
		}{word(c.Scope.Size), c.Scope.ChangedLines})
	}
	if c.Risk.Level.Rank() > 0 {
		v.Risk = cw.risk()
	}
	if v.Type == "" && v.Size == "" && v.Risk == "" {
		return ""
	}
	return say("change", v)
}

func (cw coverageWords) risk() safe {
	const maxReasons = 12 // more than there are factors
	c := &cw.r.Classification.Risk
	reasons := first(c.Reasons, maxReasons, func(r pipeline.RiskReason) safe { return cw.riskReason(&r) })
	return say("change risk", struct {
		Level   word
		Score   int
		Reasons []safe
	}{word(c.Level), c.Score, reasons})
}

// maxRisk bounds a reason for risk, in runes. A reason has a description and a path.
const maxRisk = 200

func (cw coverageWords) riskReason(r *pipeline.RiskReason) safe {
	return say("risk reason", struct {
		Reason safe
		Points int
	}{cw.p.text(r.Reason, maxRisk), r.Points})
}
