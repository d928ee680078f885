package gapdetect

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/reviewgate/reviewgate/pipeline"
)

// amend returns the manifest with each agent's missed files added to its scope. It does not change
// the given manifest.
func (d *Detector) amend(m pipeline.AgentManifest, missed map[string][]string) pipeline.AgentManifest {
	if len(missed) == 0 {
		return m
	}
	var out pipeline.AgentManifest
	for _, e := range m.Entries {
		if files := missed[e.Agent]; len(files) > 0 {
			e.Scope.Files = union(e.Scope.Files, files)
		}
		out.Entries = append(out.Entries, e)
	}
	for agent, files := range missed {
		if m.Entry(agent) == nil {
			a := d.agents[agent]
			out.Entries = append(out.Entries, pipeline.ManifestEntry{
				Agent:     agent,
				Scope:     pipeline.AgentScope{Files: union(nil, files)},
				OnFailure: pipeline.OnFailureWarn,
				Stage:     a.StageOf(),
				Models:    d.config.ModelsOf(a, nil),
				AddedBy:   pipeline.AddedByGapDetect,
			})
		}
	}
	slices.SortFunc(out.Entries, func(a, b pipeline.ManifestEntry) int {
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.Agent, b.Agent))
	})
	for _, s := range m.Skipped {
		if len(missed[s.Agent]) == 0 {
			out.Skipped = append(out.Skipped, s)
		}
	}
	return out
}

func union(a, b []string) pipeline.List[string] {
	out := append(slices.Clone(a), b...)
	slices.Sort(out)
	return slices.Compact(out)
}

// mapping puts a file into a signal's domain. It is a map and not a struct, so that its keys keep
// their order when a stored review is read and written. Its id differs by file and concern, so that
// several suggestions can be applied together. It has no weight, so the domain keeps its own.
func mapping(s *signal, path string) map[string]any {
	sum := sha256.Sum256([]byte(s.Concern + "\x00" + path))
	return map[string]any{
		"type":        "domain",
		"id":          s.Domain + "-" + hex.EncodeToString(sum[:4]),
		"domain":      s.Domain,
		"description": "Unmapped code of " + s.Domain + ", found by " + s.ID + ".",
		"globs":       []string{fileGlob(path)},
	}
}

// maxGlob leaves room in the 256 bytes of a glob for what fileGlob appends.
const maxGlob = 240

// fileGlob returns a glob that matches the path and little else: the path itself, with special
// characters taken literally. Characters that a glob can't contain become ?, and a path that is too
// long is cut.
func fileGlob(path string) string {
	var b strings.Builder
	for i, r := range path {
		n := b.Len()
		switch {
		case n > maxGlob:
			return cutGlob(b.String())
		case strings.ContainsRune(`*?[]{}\`, r), r == '!' && i == 0:
			b.WriteByte('\\')
			b.WriteRune(r)
		case unicode.IsControl(r) || r == utf8.RuneError:
			b.WriteByte('?')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// cutGlob ends the beginning of a path's glob after its last whole directory, or after its first
// characters if there is none.
func cutGlob(glob string) string {
	if i := strings.LastIndexByte(glob, '/'); i > 0 {
		return glob[:i] + "/**"
	}
	return glob + "*"
}
