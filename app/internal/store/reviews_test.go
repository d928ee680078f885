package store

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/pipeline"
)

// What a report was made of reads back as it was, also where it was written with
// the files in their place, and a part of it is an error.
func TestInputsReadBack(t *testing.T) {
	file := func(path string) pipeline.File {
		return pipeline.File{Path: path, Status: pipeline.FileAdded, Additions: 1, Hunks: pipeline.List[pipeline.Hunk]{{
			NewStart: 1, NewLines: 1, Lines: pipeline.List[pipeline.Line]{{Op: pipeline.LineAdded, New: 1, Text: path}},
		}}}
	}
	for name, files := range map[string]pipeline.List[pipeline.File]{"none": {}, "one": {file("a.go")}, "two": {file("a.go"), file("b.go")}} {
		var want pipeline.Review
		want.Facts.Title, want.Facts.Files = "a title", files
		packed, err := packInputs(want)
		if err != nil {
			t.Fatal(err)
		}
		whole, err := pack(want)
		if err != nil {
			t.Fatal(err)
		}
		for form, data := range map[string][]byte{"apart": packed, "in place": whole} {
			var got pipeline.Review
			if err := unpackInputs(data, &got); err != nil {
				t.Fatalf("%s, %s: %v", name, form, err)
			}
			if diff := cmp.Diff(want.Facts.Files, got.Facts.Files); diff != "" || got.Facts.Title != want.Facts.Title {
				t.Errorf("%s, %s (-want +got):\n%s", name, form, diff)
			}
		}
		for cut := range packed {
			if err := unpackInputs(packed[:cut], new(pipeline.Review)); err == nil {
				t.Fatalf("%s: the first %d of %d bytes read without an error", name, cut, len(packed))
			}
		}
	}
}
