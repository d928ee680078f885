package render

import "github.com/reviewgate/reviewgate/pipeline"

// evaluation describes what rules, policies and agents in evaluation found.
type evaluation struct {
	N         int  // findings
	Decision  word // that they would bring, or empty if it would be the same
	Condition safe
	Note      safe   // why nothing ran
	Failed    []safe // agents that did not finish
}

// evaluation puts the findings in evaluation into words. ok is false if there is nothing to say.
func (s sections) evaluation() (out evaluation, list items, ok bool) {
	e := s.r.Report.Evaluation
	if e == nil {
		return out, list, false
	}
	for _, c := range e.Coverage {
		if c.Status != pipeline.AgentOK {
			out.Failed = append(out.Failed, s.p.text(c.Agent, maxName))
		}
	}
	if len(e.Findings)+len(out.Failed) == 0 && e.Note == "" {
		return out, list, false
	}
	const maxAgents = 10
	out.Failed = first(out.Failed, maxAgents, func(name safe) safe { return name })
	out.N, out.Note = evaluatedFindings(&s.r.Report), sentence(s.p.text(e.Note, maxReason))
	if e.Condition != "" {
		out.Decision, out.Condition = decisionWord(e.Decision), s.p.code(e.Condition, maxReason)
	}
	list = each(e.Findings, func(f *pipeline.Finding) safe {
		return say("evaluated one", struct {
			Severity           word
			Place, Title, Rule safe
		}{word(severityOf(f)), s.fs.place(f), s.p.text(f.Title, maxTitle), s.p.code(f.RuleID, maxName)})
	})
	if e.More > 0 {
		list = list.then(listOf([]safe{moreOf(e.More)}))
	}
	return out, list, true
}

// evaluated collapses what was found in evaluation, since nobody has to act on it yet.
func (r *report) evaluated() safe {
	e, list, ok := r.evaluation()
	if !ok {
		return ""
	}
	shown, more := list.take(r.roomBelow(roomEvaluation))
	if more > 0 {
		shown = append(shown, r.more(more))
	}
	return r.wrap("heading evaluation", say("evaluation summary", e), blocks([]safe{lines(bullets(shown)), say("evaluation outcome", e)}))
}

// evaluated shows what is in evaluation.
func (t *terminal) evaluated() {
	e, list, ok := t.evaluation()
	if !ok {
		return
	}
	t.heading(say("heading evaluation", nil))
	t.items(list)
	t.b.WriteByte('\n')
	t.put("  ", say("evaluation outcome", e), styleNone)
}
