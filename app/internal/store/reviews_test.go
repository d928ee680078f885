package store

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
)

// The inputs of a review read back as they were. So do the forms that older versions
// stored, with the files among the inputs or after them. An incomplete text is an error.
func TestInputsReadBack(t *testing.T) {
	file := func(path string) pipeline.File {
		return pipeline.File{Path: path, Status: pipeline.FileAdded, Additions: 1, Hunks: pipeline.List[pipeline.Hunk]{{
			NewStart: 1, NewLines: 1, Lines: pipeline.List[pipeline.Line]{{Op: pipeline.LineAdded, New: 1, Text: path}},
		}}}
	}
	for name, files := range map[string]pipeline.List[pipeline.File]{"none": nil, "one": {file("a.go")}, "two": {file("a.go"), file("b.go")}} {
		var want pipeline.Review
		want.Facts.Title, want.Facts.Files = "a title", files
		now, err := encode(ports.StoredReview{Review: want})
		if err != nil {
			t.Fatal(err)
		}
		inputs, err := packInputs(want)
		if err != nil {
			t.Fatal(err)
		}
		after, err := packAll(func(enc *json.Encoder) error {
			apart := want
			apart.Facts.Files = nil
			err := enc.Encode(apart)
			for i := range files {
				err = errors.Join(err, enc.Encode(&files[i]))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		among, err := pack(want)
		if err != nil {
			t.Fatal(err)
		}
		for form, e := range map[string]encoded{
			"apart": now, "after": {report: now.report, inputs: after, record: now.record, loop: now.loop}, "among": {report: now.report, inputs: among, record: now.record, loop: now.loop},
		} {
			var got ports.StoredReview
			if err := e.decode(&got); err != nil {
				t.Fatalf("%s, %s: %v", name, form, err)
			}
			if diff := cmp.Diff(want.Facts.Files, got.Review.Facts.Files, cmpopts.EquateEmpty()); diff != "" || got.Review.Facts.Title != want.Facts.Title {
				t.Errorf("%s, %s (-want +got):\n%s", name, form, diff)
			}
		}
		for what, data := range map[string][]byte{"inputs": inputs, "files": now.files} {
			for cut := range data {
				e := now
				if e.inputs = data[:cut]; what == "files" {
					e.inputs, e.files = inputs, data[:cut]
				}
				if err := e.decode(new(ports.StoredReview)); err == nil {
					t.Fatalf("%s: the first %d of %d bytes of the %s read without an error", name, cut, len(data), what)
				}
			}
		}
	}
}
