package render

import "github.com/reviewgate/reviewgate/pipeline"

// domains lists the files of each domain, with the mappings that put them there.
func (cw coverageWords) domains() items {
	var known []pipeline.Domain
	for _, d := range cw.r.Classification.Domains {
		if len(d.Files) > 0 {
			known = append(known, d)
		}
	}
	return each(known, func(d *pipeline.Domain) safe {
		const maxFiles = 3
		files := first(d.Files, maxFiles, cw.mapped)
		return say("domain", struct {
			Domain safe
			Files  []safe
		}{cw.p.text(d.ID, maxName), files})
	})
}

// mapped puts a file into words, with the globs that put it into a domain.
func (cw coverageWords) mapped(f pipeline.DomainFile) safe {
	const maxGlobs, maxGlob = 2, 80 // runes: enough to recognise a glob
	return say("mapped", struct {
		Path  safe
		Globs []safe
	}{
		cw.p.code(clipPath(f.Path, maxPath), maxPath),
		first(f.Mappings, maxGlobs, func(glob string) safe { return cw.p.code(shortGlobs(glob), maxGlob) }),
	})
}

// unclassified names files that are in no domain.
func (cw coverageWords) unclassified() safe {
	const maxFiles = 3
	files := first(cw.r.Classification.Unclassified, maxFiles, func(path string) safe {
		return cw.p.code(clipPath(path, maxPath), maxPath)
	})
	if len(files) == 0 {
		return ""
	}
	return say("unclassified", files)
}
