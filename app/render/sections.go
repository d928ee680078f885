package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
)

// The functions of this file put the lists around the findings into words, for every
// format.

// sections puts the parts of one review into words.
type sections struct {
	r  *pipeline.Review
	p  pen
	k  linker
	fs *findings
	// use is nil if it is not known.
	use []pipeline.ModelUse
}

// problems lists the problems of a config. in holds the origin of each layer's files.
func (s sections) problems(list []pipeline.ConfigProblem, in map[string]origin) items {
	return each(list, func(c *pipeline.ConfigProblem) safe {
		where := c.File
		if c.Line > 0 {
			where += fmt.Sprintf(":%d", c.Line)
			if c.Column > 0 {
				where += fmt.Sprintf(":%d", c.Column)
			}
		}
		return say("config problem", struct {
			Where, Pointer, Problem, Remedy safe
			From                            origin
		}{
			s.p.code(where, maxPath), s.p.code(c.Pointer, maxPath),
			s.p.text(c.Problem, maxReason), sentence(s.p.text(c.Remedy, maxReason)), in[c.Layer],
		})
	})
}

// origin tells the files of a layer apart from files of the same name in another layer.
type origin struct {
	Repository safe // with the layer's files
	Layer      safe // set if several layers are broken
}

// origins returns the origins of the broken layers. It names a repository that is not
// the change's own, and every layer if several are broken.
func (s sections) origins() map[string]origin {
	out := map[string]origin{}
	broken := s.brokenLayers()
	for _, name := range broken {
		var o origin
		if len(broken) > 1 {
			o.Layer = s.p.text(name, maxName)
		}
		switch {
		case name == config.LayerOrganisation:
			o.Repository = s.p.code(organisation(&s.r.Facts), maxPath)
		case name == config.LayerRepository && len(broken) > 1 && s.k.web != "":
			o.Repository = s.p.code(s.r.Facts.Repository.FullName(), maxPath)
		}
		out[name] = o
	}
	return out
}

// brokenLayers returns the names of the layers with problems, in the order of the
// problems.
func (s sections) brokenLayers() []string {
	var names []string
	for _, c := range s.r.Facts.Config.Problems {
		if !slices.Contains(names, c.Layer) {
			names = append(names, c.Layer)
		}
	}
	return names
}

// organisation returns the repository that holds the organisation's layer, or "" if it
// is the change's own repository.
func organisation(facts *pipeline.PRFacts) string {
	for _, l := range facts.Config.Layers {
		if l.Name == config.LayerOrganisation && !strings.EqualFold(l.Source, facts.Repository.FullName()) {
			return l.Source
		}
	}
	return ""
}

// broken holds the values for the text above the problems of a config.
type broken struct {
	Layers       []brokenLayer
	Count        int
	Branch       safe // the branch of the change's repository with the config to repair
	Organisation safe // another repository with the config to repair
}

type brokenLayer struct {
	Name     safe
	LastGood bool // an older version of the layer is in use
	Parts    bool // the layer is in use without the broken parts
}

func (s sections) broken() broken {
	cfg := &s.r.Facts.Config
	b := broken{Count: len(cfg.Problems)}
	repair := map[string]bool{}
	for _, c := range cfg.Problems {
		repair[c.Layer] = repair[c.Layer] || c.File != ""
	}
	for _, name := range s.brokenLayers() {
		has := func(used bool) bool {
			return slices.ContainsFunc(cfg.Layers, func(l pipeline.ConfigLayer) bool { return l.Used == used && l.Name == name })
		}
		b.Layers = append(b.Layers, brokenLayer{s.p.text(name, maxName), has(true), name == config.LayerOrganisation && has(true) && !has(false) && repair[name]})
	}
	if repair[config.LayerOrganisation] {
		b.Organisation = s.p.code(organisation(&s.r.Facts), maxPath)
	}
	if repair[config.LayerRepository] || repair[config.LayerOrganisation] && b.Organisation == "" {
		b.Branch = s.configBranch()
	}
	return b
}

// configBranch returns the branch that holds the repository's config. It is empty for a
// local review, which reads the work tree.
func (s sections) configBranch() safe {
	if s.k.web == "" {
		return ""
	}
	facts := &s.r.Facts
	for _, l := range facts.Config.Layers {
		if _, branch, ok := strings.Cut(l.Source, "@"); ok && l.Name == config.LayerRepository {
			return s.p.code(branch, maxName)
		}
	}
	return s.p.code(facts.Repository.DefaultBranch, maxName)
}

// incomplete lists the missing information that blocks the gate, or, if gating is not
// set, the missing information that does not.
func (s sections) incomplete(gating bool) items {
	phrase := "not known"
	if gating {
		phrase = "incomplete one"
	}
	var some []pipeline.Incompleteness
	for _, i := range s.r.Report.Incomplete {
		if i.Gating == gating && i.What != pipeline.IncompleteOnly { // another line says that one
			some = append(some, i)
		}
	}
	return each(some, func(i *pipeline.Incompleteness) safe {
		return say(phrase, struct{ Where, Why safe }{
			s.p.code(clipPath(i.Path, maxPath), maxPath), sentence(s.p.text(i.Why, maxReason)),
		})
	})
}

// sentence ends a text with a full stop, unless it ends in punctuation or is a number.
// A number with a full stop could start a list.
func sentence(s safe) safe {
	if strings.Trim(string(s), "0123456789") == "" || strings.ContainsAny(string(s[len(s)-1:]), ".!?:") || strings.HasSuffix(string(s), "…") {
		return s
	}
	return s + "."
}

func shared(list []SharedHead) items {
	return each(list, func(h *SharedHead) safe {
		return say("shared one", worse{h.Number, decisionWord(h.Decision)})
	})
}

// decisionWord returns the decision, or "" if it is not a known one.
func decisionWord(d pipeline.Decision) word {
	if d.Rank() == 0 {
		return ""
	}
	return word(d)
}

// agentCounts counts the findings of one agent.
type agentCounts struct {
	Agent  safe
	Counts pipeline.Counts
}

// table counts findings by agent. The agents have the order of the list of findings, so
// that the agent with the worst finding comes first.
func (s sections) table() []agentCounts {
	var rows []agentCounts
	at := map[string]int{}
	for _, f := range s.fs.list {
		if s.fs.further[f] {
			continue
		}
		i, ok := at[f.Agent]
		if !ok {
			i = len(rows)
			at[f.Agent] = i
			rows = append(rows, agentCounts{Agent: s.cell(f.Agent)})
		}
		rows[i].Counts.Add(severityOf(f))
	}
	return rows
}

// resolved lists the findings of the previous report that are resolved.
func (s sections) resolved(layout string) items {
	head := s.p.code(shortSHA(s.r.Facts.Head.SHA), maxName)
	return each(s.r.Report.Changes.Resolved, func(f *pipeline.Finding) safe {
		return say(layout, struct {
			Severity           word
			Place, Title, Head safe
			Secret             bool
		}{
			word(severityOf(f)), s.previousPlace(f), s.p.text(f.Title, maxTitle), head, isSecret(f),
		})
	})
}

func isSecret(f *pipeline.Finding) bool { return f.Agent == "secrets" || f.Category == "secrets" }

// unconfirmed lists the findings of earlier reports that may still be there, and those that
// no model raised again.
func (s sections) unconfirmed() items {
	one := func(layout string) func(f *pipeline.Finding) safe {
		return func(f *pipeline.Finding) safe {
			return say(layout, struct {
				Severity             word
				Place, Title, Agents safe
			}{word(severityOf(f)), s.previousPlace(f), s.p.text(f.Title, maxTitle), s.fs.agents(f)})
		}
	}
	return each(s.r.Report.Changes.Unconfirmed, one("unconfirmed one")).then(each(s.r.Report.Changes.NotRaised, one("not raised one")))
}

// previousPlace returns the path of a previous finding without lines, because they may
// have changed at this head.
func (s sections) previousPlace(f *pipeline.Finding) safe {
	if f.Path == "" {
		return s.fs.place(f)
	}
	return s.p.code(clipPath(f.Path, maxPath), maxPath)
}

// aside lists suppressed findings, concerns below the confidence gate, and questions.
func (s sections) aside() (list items, summary safe) {
	rep := &s.r.Report
	by := dismissers(&s.r.Memory)
	list = each(rep.Suppressed, func(x *pipeline.Suppressed) safe { return say("suppressed one", s.suppressed(x, by)) })
	list = list.then(s.sourced("concern one", rep.ResidualConcerns))
	list = list.then(s.sourced("question one", rep.DeferredQuestions))
	return list, say("aside counts", struct{ Suppressed, Concerns, Questions int }{
		len(rep.Suppressed), len(rep.ResidualConcerns), len(rep.DeferredQuestions),
	})
}

// suppressed holds the values for the phrases about a finding that does not count.
type suppressed struct {
	Severity, Class                word
	Place, Title, Rule, Reason, By safe
	ID, Hidden                     safe // Hidden is the record of memory that hid it
	Inline, Dismissed              bool // Inline: a comment in the code did it
}

// suppressed says why a finding does not count in the gate. by maps fingerprints to the
// people who dismissed the findings.
func (s sections) suppressed(x *pipeline.Suppressed, by map[string]pipeline.Dismissal) suppressed {
	out := suppressed{
		Severity: word(severityOf(&x.Finding)), Place: s.fs.place(&x.Finding),
		Title: s.p.text(x.Finding.Title, maxTitle), Rule: s.p.code(x.Finding.RuleID, maxName), ID: s.fs.id(&x.Finding),
		Dismissed: x.Finding.State == pipeline.StateDismissed,
	}
	reason, inline := strings.CutPrefix(x.Reason, "inline: ")
	if out.Inline = inline; out.Dismissed {
		reason = strings.TrimPrefix(reason, "dismissed: ")
		d := dismissedBy(by, &x.Finding)
		out.By, out.Class = s.p.text(d.By, maxName), word(d.Class)
	}
	if hidden, ok := strings.CutPrefix(reason, pipeline.ReasonHidden); ok && !inline && !out.Dismissed {
		record, why, _ := strings.Cut(hidden, ": ")
		out.Hidden, reason = s.p.code(record, maxName), why
	}
	out.Reason = sentence(s.p.text(reason, maxReason))
	return out
}

func (s sections) sourced(phrase string, list []pipeline.SourcedText) items {
	return each(list, func(t *pipeline.SourcedText) safe {
		return say(phrase, struct{ Text, Source safe }{s.p.text(t.Text, maxReason), s.p.text(t.Source, maxName)})
	})
}

// patchLines writes a JSON Patch for people to copy, without the escapes of JSON in
// HTML.
func patchLines(ops []pipeline.PatchOperation) []string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(ops); err != nil {
		return []string{codeLine(err.Error(), maxReason)}
	}
	out := codeLines(string(escaped(b.Bytes())))
	for i := range out {
		out[i] = codeLine(out[i], maxFixLine)
	}
	return out
}
