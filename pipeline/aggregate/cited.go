package aggregate

import (
	"encoding/hex"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/reviewgate/reviewgate/pipeline"
)

// unchanged reports whether the code around an earlier finding, and what the change does to the
// files that it names, are still the same.
func (a *surroundings) unchanged(p *earlier, digest string) bool {
	i := slices.Index(p.Fingerprints, p.ID)
	return i >= 0 && i < len(p.Surroundings) && p.Surroundings[i] == digest && p.Cited == a.cited(p.Finding)
}

// notInName reports whether a character can't be part of a file's path or name.
func notInName(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_.@/+-", r)
}

// cited is a digest of what the change does to the other files that a finding names. A finding that
// depends on another file may be fixed there.
func (a *surroundings) cited(f *pipeline.Finding) string {
	paths := map[string]bool{}
	for _, text := range []string{f.Citation, f.Message, f.WhyItMatters, f.Recommendation} {
		for word := range strings.FieldsFuncSeq(text, notInName) {
			if word = strings.Trim(word, ".-/"); !strings.ContainsAny(word, "./") {
				continue // it can't be a path
			}
			if path, ok := a.byName()[word]; ok {
				word = path
			}
			if a.files[word] != nil && word != f.Path {
				paths[word] = true
			}
		}
	}
	if len(paths) == 0 {
		return ""
	}
	var parts []string
	for _, path := range sortedKeys(paths) {
		whole := a.shape(path).whole
		parts = append(parts, path, string(whole[:]))
	}
	all := sumOf(parts...)
	return hex.EncodeToString(all[:])
}

// byName maps file names to the paths of the change's files, for names that only one file has.
func (a *surroundings) byName() map[string]string {
	if a.names == nil {
		a.names = map[string]string{}
		for p := range a.files {
			name := path.Base(p)
			if _, twice := a.names[name]; twice {
				p = ""
			}
			a.names[name] = p
		}
	}
	return a.names
}
