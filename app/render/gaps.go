package render

import (
	"cmp"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/gapdetect"
)

// gap is a concern that the config missed, in one place or several.
type gap struct {
	Place, Concern, Quote, Missed, Agent, File, Patch safe
	Model                                             safe // whose word it is, empty for signals
	Also                                              []safe
	Cut                                               bool // the patch covers the first places only
	Appends                                           int  // how many values the patch appends, if it does nothing else
}

// gaps words the gaps of the log, those of one concern together.
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

// appends reports whether a patch does nothing but append to lists, so that it
// can follow another, whatever comes between them in the log. The first patch
// of all may have to make the file.
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

// maxOperations bounds a patch that is shown: more is copied by nobody.
const maxOperations = 20

// patchOf is one patch that covers the gaps of a concern, or the first of them.
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
