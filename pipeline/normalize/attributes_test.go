package normalize

import (
	"testing"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/raw"
)

func TestAttributesThatHideDiffsGate(t *testing.T) {
	attributes := raw.ChangedFile{Path: "src/.gitattributes", Status: pipeline.FileAdded, Additions: 1, Patch: "@@ -0,0 +1 @@\n+*.go -diff"}
	for _, tc := range []struct {
		name  string
		files []raw.ChangedFile
		want  int
	}{
		{"text without a diff", []raw.ChangedFile{attributes, {Path: "src/a.go", Status: pipeline.FileAdded}}, 1},
		{"an empty file", []raw.ChangedFile{attributes, {Path: "src/a.go", Status: pipeline.FileAdded, Empty: true}}, 0},
		{"known as binary", []raw.ChangedFile{attributes, {Path: "src/a.go", Status: pipeline.FileModified, Binary: true}}, 1},
		{"true binary", []raw.ChangedFile{attributes, {Path: "src/a.png", Status: pipeline.FileAdded, Binary: true}}, 0},
		{"renamed", []raw.ChangedFile{attributes, {Path: "src/a.go", PreviousPath: "b.go", Status: pipeline.FileRenamed}}, 0},
		{".gitattributes is not changed", []raw.ChangedFile{{Path: "src/a.go", Status: pipeline.FileAdded}}, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			facts := build(raw.PullRequest{Totals: pipeline.Totals{Files: len(tc.files)}}, raw.Files{Files: tc.files}, raw.Commits{}, nil)
			if len(facts.Incomplete) != tc.want {
				t.Errorf("incomplete %+v, want %d", facts.Incomplete, tc.want)
			}
		})
	}
}
