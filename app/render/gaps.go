package render

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/config/patch"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/gapdetect"
)

// gap holds the values for the phrases about a concern that the config missed, in one or
// several places.
type gap struct {
	Place, Concern, Quote, Missed, File, Patch safe
	Agents                                     []safe // that were sent
	Model                                      safe   // the model that proposed it; empty for signals
	Apply                                      safe   // the command that applies the patch, or empty
	Saved                                      bool   // the command reads it from patch.json
	Also                                       []safe
	Cut                                        bool // the patch covers only the first places
	Appends                                    int  // the number of values that the patch appends; 0 if it does anything else
	YAML                                       bool // Patch is what to append, in YAML
}

// gaps puts the gaps of the log into words. It groups them by concern.
func (s sections) gaps(layout string) items {
	type concern struct{ name, agents, file, source string }
	var groups [][]*pipeline.GapLogEntry
	at := map[concern]int{}
	for i := range s.r.Report.GapLog {
		g := &s.r.Report.GapLog[i]
		key := concern{g.Concern, strings.Join(sent(g), " "), g.Suggestion.File, g.Source}
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

// sent lists the agents that a gap sent.
func sent(g *pipeline.GapLogEntry) []string {
	if g.Agent == "" {
		return nil
	}
	return append([]string{g.Agent}, g.Others...)
}

// appends reports whether a patch only appends to lists. Such a patch can follow any
// other.
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
		File:    s.p.code(g.Suggestion.File, maxName),
	}
	for _, agent := range sent(g) {
		v.Agents = append(v.Agents, s.p.text(agent, maxName))
	}
	if g.Source != gapdetect.Source {
		v.Model = s.p.text(g.Source, maxName)
	}
	const maxPlaces = 5
	v.Also = first(group[1:], maxPlaces, func(g *pipeline.GapLogEntry) safe { return s.fs.at(g.Path, g.Line, g.Line) })
	ops, ids, cut := patchOf(group)
	if v.Cut = cut; len(ops) > 0 {
		v.Patch = s.p.block("json", patchLines(ops))
		if !slices.ContainsFunc(ids, func(id string) bool { return !plainID.MatchString(id) }) {
			v.Apply = s.p.code("reviewgate config apply "+strings.Join(ids, ","), maxOperations*maxName)
		}
		if appends(pipeline.ConfigPatch{Operations: ops}) {
			v.Appends = len(ops)
		}
		if lines := yamlLines(g.Suggestion.File, ops); lines != nil && v.Appends > 0 {
			v.YAML, v.Patch = true, s.p.block("yaml", lines)
		}
	}
	return v
}

// yamlLines returns what a patch appends, as entries of a list in YAML. It returns nil if the file is
// not YAML, or if the entries have characters that nobody sees: the patch in JSON escapes them.
func yamlLines(file string, ops []pipeline.PatchOperation) []string {
	if ext := path.Ext(file); ext != ".yaml" && ext != ".yml" {
		return nil
	}
	text, err := patch.AsYAML(ops)
	if err != nil || string(escaped([]byte(text))) != text {
		return nil
	}
	lines := codeLines(text)
	for i := range lines {
		lines[i] = codeLine(lines[i], maxFixLine)
	}
	return lines
}

// maxOperations bounds a patch, because nobody copies a longer one.
const maxOperations = 20

// plainID matches the ids that people can paste into a shell.
var plainID = regexp.MustCompile(`^[a-z0-9][a-z0-9-]*$`)

// patchOf returns one patch for all gaps of a concern, and the ids of the gaps that it covers. If the
// patch would be too long, it covers the first gaps, and cut is true.
func patchOf(group []*pipeline.GapLogEntry) (ops []pipeline.PatchOperation, ids []string, cut bool) {
	seen := map[string]bool{}
	for _, g := range group {
		text := strings.Join(patchLines(g.Suggestion.Operations), "\n")
		switch {
		case seen[text]:
		case len(ops) >= maxOperations:
			return ops, ids, true
		default:
			seen[text] = true
			ops, ids = append(ops, g.Suggestion.Operations...), append(ids, g.ID())
		}
	}
	return ops, ids, false
}
