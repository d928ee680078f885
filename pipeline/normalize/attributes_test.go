package normalize

import (
	"testing"

	"github.com/reviewgate/reviewgate/pipeline"
)

func TestAttributesThatHideDiffsGate(t *testing.T) {
	attributes := ChangedFile{Path: "src/.gitattributes", Status: pipeline.FileAdded, Additions: 1, Patch: "@@ -0,0 +1 @@\n+*.go -diff"}
	for _, tc := range []struct {
		name  string
		files []ChangedFile
		want  int
	}{
		{"text without a diff", []ChangedFile{attributes, {Path: "src/a.go", Status: pipeline.FileAdded}}, 1},
		{"an empty file", []ChangedFile{attributes, {Path: "src/a.go", Status: pipeline.FileAdded, Empty: true}}, 0},
		{"known as binary", []ChangedFile{attributes, {Path: "src/a.go", Status: pipeline.FileModified, Binary: true}}, 1},
		{"true binary", []ChangedFile{attributes, {Path: "src/a.png", Status: pipeline.FileAdded, Binary: true}}, 0},
		{"renamed", []ChangedFile{attributes, {Path: "src/a.go", PreviousPath: "b.go", Status: pipeline.FileRenamed}}, 0},
		{"attributes as they were", []ChangedFile{{Path: "src/a.go", Status: pipeline.FileAdded}}, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			facts := build(PullRequest{Totals: pipeline.Totals{Files: len(tc.files)}}, Files{Files: tc.files}, Commits{}, nil)
			if len(facts.Incomplete) != tc.want {
				t.Errorf("incomplete %+v, want %d", facts.Incomplete, tc.want)
			}
		})
	}
}
