package render

import "github.com/reviewgate/reviewgate/pipeline"

// domains lists the files of each domain. /review explain and config explain name the globs.
func (cw coverageWords) domains() items {
	var known []pipeline.Domain
	for _, d := range cw.r.Classification.Domains {
		if len(d.Files) > 0 {
			known = append(known, d)
		}
	}
	return each(known, func(d *pipeline.Domain) safe {
		const maxFiles = 3
		files := first(d.Files, maxFiles, func(f pipeline.DomainFile) safe { return cw.p.code(clipPath(f.Path, maxPath), maxPath) })
		return say("domain", struct {
			Domain safe
			Files  []safe
		}{cw.p.text(d.ID, maxName), files})
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
