package normalize

import (
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/raw"
)

// hidden lists the files whose lines a change may hide from its own review: it edits
// .gitattributes, which can make git and GitHub treat text as binary, and the file has no
// diff. A file that the source knows to be empty hides nothing.
func hidden(files []pipeline.File, read []raw.ChangedFile) []pipeline.Incompleteness {
	edited := ""
	for _, f := range files {
		if f.Path == ".gitattributes" || strings.HasSuffix(f.Path, "/.gitattributes") {
			edited = f.Path
		}
	}
	if edited == "" {
		return nil
	}
	empty := map[string]bool{}
	for i := range read {
		empty[read[i].Path] = read[i].Empty
	}
	var list []pipeline.Incompleteness
	for _, f := range files {
		if f.Binary || f.Language == "" || len(f.Hunks) > 0 || f.ChangedLines() > 0 || empty[f.Path] {
			continue
		}
		if f.Status != pipeline.FileAdded && f.Status != pipeline.FileModified {
			continue
		}
		list = append(list, pipeline.Incompleteness{
			What: "patch", Path: f.Path, Gating: true,
			Why: "no diff is shown of this " + f.Language + " file, and the change edits " + edited + ", which can hide diffs; change the attributes in a pull request of their own",
		})
	}
	return list
}
