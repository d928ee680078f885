package render

import (
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
)

// explained says of the review that is shown why its agents ran or did not; or
// of one agent that; or of a file its domains, agents and findings. known is
// false where the name is neither an agent's nor a changed file's.
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

// explainedAgent is what is known of one agent: how it ran, and what it was
// given, or why it did not run.
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

// keep is a list of those of the entries that fit: the one given is stored.
func keep[T any](list pipeline.List[T], fits func(T) bool) pipeline.List[T] {
	var out pipeline.List[T]
	for _, x := range list {
		if fits(x) {
			out = append(out, x)
		}
	}
	return out
}

// skipped says why agents did not run: one, or all of them.
func (cw coverageWords) skipped(name string) items {
	some := keep(cw.r.Manifest.Skipped, func(a pipeline.SkippedAgent) bool { return name == "" || strings.EqualFold(a.Agent, name) })
	return each(some, func(a *pipeline.SkippedAgent) safe {
		return say("agent skipped", struct{ Agent, Reason safe }{cw.p.text(a.Agent, maxName), cw.p.text(a.Reason, maxReason)})
	})
}

// explainedFile is what is known of one changed file.
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

// lookers names the agents that were given a file.
func (nw noticeWords) agentsGiven(path string) safe {
	const maxAgents = 20
	given := keep(nw.r.Manifest.Entries, func(e pipeline.ManifestEntry) bool {
		_, in := slices.BinarySearch(e.Scope.Files, path)
		return in || e.Scope.All
	})
	return say("explain agents", first(given, maxAgents, func(e pipeline.ManifestEntry) safe { return nw.p.text(e.Agent, maxName) }))
}
