package render

import "github.com/reviewgate/reviewgate/pipeline"

// domains say of each domain which files are in it, and by which mapping.
func (s sections) domains() items {
	var known []pipeline.Domain
	for _, d := range s.r.Classification.Domains {
		if len(d.Files) > 0 {
			known = append(known, d)
		}
	}
	return each(known, func(d *pipeline.Domain) safe {
		const maxFiles = 3
		files := first(d.Files, maxFiles, s.mapped)
		return say("domain", struct {
			Domain safe
			Files  []safe
		}{s.p.text(d.ID, maxName), files})
	})
}

// mapped is a file with the globs that put it into a domain.
func (s sections) mapped(f pipeline.DomainFile) safe {
	const maxGlobs, maxGlob = 2, 48 // runes: the shape of a glob, not all that it lists
	return say("mapped", struct {
		Path  safe
		Globs []safe
	}{
		s.p.code(clipPath(f.Path, maxPath), maxPath),
		first(f.Mappings, maxGlobs, func(glob string) safe { return s.p.code(glob, maxGlob) }),
	})
}

// unclassified names files that no mapping puts anywhere.
func (s sections) unclassified() safe {
	const maxFiles = 3
	files := first(s.r.Classification.Unclassified, maxFiles, func(path string) safe {
		return s.p.code(clipPath(path, maxPath), maxPath)
	})
	if len(files) == 0 {
		return ""
	}
	return say("unclassified", files)
}
