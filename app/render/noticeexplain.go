package render

import (
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
)

// explained explains an agent or a changed file by its name. For an agent it says why
// the agent ran or did not; for a file it lists domains, agents and findings. Without a
// name it explains all agents. known is false for any other name.
func (nw noticeWords) explained(name string) (list items, known bool) {
	if name == "" {
		return listOf(nw.agents()).then(nw.skipped("")), true
	}
	if list := nw.explainedAgent(name); list.n > 0 {
		return list, true
	}
	for i := range nw.r.Facts.Files {
		if f := &nw.r.Facts.Files[i]; f.Path == name {
			return nw.explainedFile(f), true
		}
	}
	return items{}, false
}

// explainedAgent says how one agent ran and which files it was given, or why it did
// not run.
func (nw noticeWords) explainedAgent(name string) items {
	r := *nw.r
	r.Manifest.Entries = keep(r.Manifest.Entries, func(e pipeline.ManifestEntry) bool { return strings.EqualFold(e.Agent, name) })
	r.Report.Coverage = keep(r.Report.Coverage, func(c pipeline.Coverage) bool { return strings.EqualFold(c.Agent, name) })
	list := listOf(coverageWords{&r, nw.p}.agents())
	for i := range r.Manifest.Entries {
		e := &r.Manifest.Entries[i]
		const maxFiles = 10
		list = list.then(listOf([]safe{say("explain scope", struct {
			All   bool
			Files []safe
		}{e.Scope.All, first(e.Scope.Files, maxFiles, func(path string) safe { return nw.p.code(clipPath(path, maxPath), maxPath) })})}))
	}
	return list.then(nw.skipped(name))
}

// keep returns the entries that fit. It does not change the list, which is stored.
func keep[T any](list pipeline.List[T], fits func(T) bool) pipeline.List[T] {
	var out pipeline.List[T]
	for _, x := range list {
		if fits(x) {
			out = append(out, x)
		}
	}
	return out
}

// skipped says why the agent with this name did not run. Without a name it covers all
// agents.
func (cw coverageWords) skipped(name string) items {
	some := keep(cw.r.Manifest.Skipped, func(a pipeline.SkippedAgent) bool { return name == "" || strings.EqualFold(a.Agent, name) })
	return each(some, func(a *pipeline.SkippedAgent) safe {
		return say("agent skipped", struct{ Agent, Reason safe }{cw.p.text(a.Agent, maxName), cw.p.text(a.Reason, maxReason)})
	})
}

// explainedFile lists the domains, agents and findings of one changed file.
func (nw noticeWords) explainedFile(f *pipeline.File) items {
	var out []safe
	if why := exception(f); why != "" {
		out = append(out, say("explain exception", struct{ Why safe }{why}))
	}
	const maxGlobs, maxGlob = 4, 80
	in := false
	for _, d := range nw.r.Classification.Domains {
		for _, m := range d.Files {
			if m.Path == f.Path {
				in = true
				out = append(out, say("explain domain", struct {
					Domain safe
					Globs  []safe
				}{nw.p.text(d.ID, maxName), first(m.Mappings, maxGlobs, func(glob string) safe { return nw.p.code(glob, maxGlob) })}))
			}
		}
	}
	if !in {
		out = append(out, say("explain no domain", nil))
	}
	out = append(out, nw.agentsGiven(f.Path))
	findings := keep(nw.r.Report.Findings, func(x pipeline.Finding) bool { return x.Path == f.Path })
	for i := range findings {
		x := &findings[i]
		out = append(out, say("explain finding", struct {
			Severity word
			named
			Place, Agent safe
		}{word(severityOf(x)), nw.named(Named{ID: x.ID, Title: x.Title}), nw.fs.place(x), nw.p.text(x.Agent, maxName)}))
	}
	if len(findings) == 0 {
		out = append(out, say("explain no finding", nil))
	}
	return listOf(out)
}

// agentsGiven names the agents that were given a file.
func (nw noticeWords) agentsGiven(path string) safe {
	const maxAgents = 20
	given := keep(nw.r.Manifest.Entries, func(e pipeline.ManifestEntry) bool { return e.Scope.Has(path) })
	return say("explain agents", first(given, maxAgents, func(e pipeline.ManifestEntry) safe { return nw.p.text(e.Agent, maxName) }))
}
