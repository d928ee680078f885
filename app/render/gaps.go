package render

import (
	"cmp"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/gapdetect"
)

// gap holds the values for the phrases about a concern that the config missed, in one or
// several places.
type gap struct {
	Place, Concern, Quote, Missed, Agent, File, Patch safe
	Model                                             safe // the model that proposed it; empty for signals
	Also                                              []safe
	Cut                                               bool // the patch covers only the first places
	Appends                                           int  // the number of values that the patch appends; 0 if it does anything else
}

// gaps puts the gaps of the log into words. It groups them by concern.
func (s sections) gaps(layout string) items {
	type concern struct{ name, agent, file, source string }
	var groups [][]*pipeline.GapLogEntry
	at := map[concern]int{}
	for i := range s.r.Report.GapLog {
		g := &s.r.Report.GapLog[i]
		key := concern{g.Concern, g.Agent, g.Suggestion.File, g.Source}
		n, known := at[key]
		switch {
		case known && appends(g.Suggestion):
			groups[n] = append(groups[n], g)
		default:
			at[key] = len(groups)
			groups = append(groups, []*pipeline.GapLogEntry{g})
		}
	}
	return each(groups, func(g *[]*pipeline.GapLogEntry) safe { return say(layout, s.gap(*g)) })
}

// appends reports whether a patch only appends to lists. Such a patch can follow any
// other. The first patch of a group may have to create the file.
func appends(p pipeline.ConfigPatch) bool {
	return !slices.ContainsFunc(p.Operations, func(op pipeline.PatchOperation) bool {
		return op.Op != "add" || !strings.HasSuffix(op.Path, "/-")
	})
}

func (s sections) gap(group []*pipeline.GapLogEntry) gap {
	g := group[0]
	v := gap{
		Place:   s.fs.at(g.Path, g.Line, g.Line),
		Concern: s.p.text(cmp.Or(g.Name, g.Concern), maxName),
		Quote:   s.p.code(strings.TrimSpace(g.Quote), maxName),
		Missed:  sentence(s.p.text(g.Missed, maxReason)),
		Agent:   s.p.text(g.Agent, maxName),
		File:    s.p.code(g.Suggestion.File, maxName),
	}
	if g.Source != gapdetect.Source {
		v.Model = s.p.text(g.Source, maxName)
	}
	const maxPlaces = 5
	v.Also = first(group[1:], maxPlaces, func(g *pipeline.GapLogEntry) safe { return s.fs.at(g.Path, g.Line, g.Line) })
	ops, cut := patchOf(group)
	if v.Cut = cut; len(ops) > 0 {
		v.Patch = s.p.block("json", patchLines(ops))
		if appends(pipeline.ConfigPatch{Operations: ops}) {
			v.Appends = len(ops)
		}
	}
	return v
}

// maxOperations bounds a patch, because nobody copies a longer one.
const maxOperations = 20

// patchOf returns one patch for all gaps of a concern. If the patch would be too long, it
// covers the first gaps, and cut is true.
func patchOf(group []*pipeline.GapLogEntry) (ops []pipeline.PatchOperation, cut bool) {
	seen := map[string]bool{}
	for _, g := range group {
		text := strings.Join(patchLines(g.Suggestion.Operations), "\n")
		switch {
		case seen[text]:
		case len(ops) >= maxOperations:
			return ops, true
		default:
			seen[text] = true
			ops = append(ops, g.Suggestion.Operations...)
		}
	}
	return ops, false
}
