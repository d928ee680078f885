package render

import (
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
)

// agentRan is what an agent that was dispatched did, and why it was.
type agentRan struct {
	Agent    safe
	Status   word
	Required bool
	Files    int // 0: the whole change
	Findings int
	Dropped  int
	Why      []safe
	Note     safe
}

// coverage lists what was read, by whom, and why; why other agents did not
// run; and what nobody read.
func (s sections) coverage() items {
	skipped := each(s.r.Manifest.Skipped, func(a *pipeline.SkippedAgent) safe {
		return say("agent skipped", struct{ Agent, Reason safe }{s.p.text(a.Agent, maxName), s.p.text(a.Reason, maxReason)})
	})
	list := listOf(s.agents()).then(skipped)
	if unread := s.unread(); unread != "" {
		list = list.then(listOf([]safe{unread}))
	}
	list = list.then(s.incomplete(false))
	if change := s.change(); change != "" {
		list = list.then(listOf([]safe{change}))
	}
	return list
}

// agents lists the agents of the manifest, those that did not finish first.
func (s sections) agents() []safe {
	rows := map[string]*pipeline.Coverage{}
	for i := range s.r.Report.Coverage {
		c := &s.r.Report.Coverage[i]
		rows[c.Agent] = c
	}
	var failed, fine []safe
	for i := range s.r.Manifest.Entries {
		e := &s.r.Manifest.Entries[i]
		a := agentRan{Agent: s.p.text(e.Agent, maxName), Required: e.Required, Files: len(e.Scope.Files), Why: s.why(e)}
		if c := rows[e.Agent]; c != nil {
			a.Status, a.Findings, a.Dropped = statusWord(c.Status), c.Findings, c.Dropped
			a.Note = s.p.text(strings.TrimRight(c.Note, ". "), maxReason)
		}
		if a.Status == word(pipeline.AgentOK) {
			fine = append(fine, say("agent ran", a))
		} else {
			failed = append(failed, say("agent ran", a))
		}
	}
	return append(failed, fine...)
}

func statusWord(s pipeline.AgentStatus) word {
	switch s {
	case pipeline.AgentOK, pipeline.AgentFailed, pipeline.AgentTimedOut, pipeline.AgentMalformed,
		pipeline.AgentSkipped, pipeline.AgentDiscarded:
		return word(s)
	}
	return ""
}

func (s sections) why(e *pipeline.ManifestEntry) []safe {
	if e.AddedBy == pipeline.AddedByGapDetect {
		return []safe{say("asked by gap-detect", nil)}
	}
	const maxPolicies = 4
	var out []safe
	for i, m := range e.Policies {
		if i == maxPolicies {
			break
		}
		out = append(out, say("policy", struct{ Policy, Trigger safe }{
			s.p.code(m.Policy, maxName), s.p.text(m.Trigger, maxReason),
		}))
	}
	return out
}

// unread lists the files that no agent looks into.
func (s sections) unread() safe {
	const maxFiles = 20
	v := struct {
		Files []safe
		More  int
	}{}
	for i := range s.r.Facts.Files {
		why := notReadWhy(&s.r.Facts.Files[i])
		switch {
		case why == "":
		case len(v.Files) == maxFiles:
			v.More++
		default:
			v.Files = append(v.Files, say("not read one", struct{ Path, Why safe }{
				s.p.code(clipPath(s.r.Facts.Files[i].Path, maxPath), maxPath), why,
			}))
		}
	}
	if len(v.Files) == 0 {
		return ""
	}
	return say("not read", v)
}

func notReadWhy(f *pipeline.File) safe {
	switch {
	case f.Generated:
		return say("generated", nil)
	case f.Vendored:
		return say("vendored", nil)
	case f.Binary:
		return say("binary", nil)
	}
	return ""
}

// change says what the change was taken for.
func (s sections) change() safe {
	c := &s.r.Classification
	var v struct{ Type, Size, Risk safe }
	if c.Type != "" {
		v.Type = say("change type", struct{ Type, Source safe }{s.p.text(c.Type, maxName), s.p.text(c.TypeSource, maxName)})
	}
	if c.Scope.Size.Rank() > 0 {
		v.Size = say("change size", struct {
			Size  word
			Lines int
		}{word(c.Scope.Size), c.Scope.ChangedLines})
	}
	if c.Risk.Level.Rank() > 0 {
		v.Risk = s.risk()
	}
	if v.Type == "" && v.Size == "" && v.Risk == "" {
		return ""
	}
	return say("change", v)
}

func (s sections) risk() safe {
	const maxReasons = 12 // more than there are factors
	c := &s.r.Classification.Risk
	var reasons []safe
	for i, r := range c.Reasons {
		if i == maxReasons {
			break
		}
		reasons = append(reasons, say("risk reason", struct {
			Reason safe
			Points int
		}{s.p.text(r.Reason, maxName), r.Points}))
	}
	return say("change risk", struct {
		Level   word
		Score   int
		Reasons []safe
	}{word(c.Level), c.Score, reasons})
}
