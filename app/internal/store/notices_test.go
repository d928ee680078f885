package store

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A notice that waited while a version that kept one only was replaced is said.
func TestNoticeKeptBeforeThereWereSeveral(t *testing.T) {
	for kept, want := range map[string][]string{
		"":                            nil,
		`{"kind":"help"}`:             {`{"kind":"help"}`},
		"sam may not [do that]":       {"sam may not [do that]"},
		`["{\"kind\":\"help\"}","b"]`: {`{"kind":"help"}`, "b"},
	} {
		if diff := cmp.Diff(want, decodeNotices(kept)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", kept, diff)
		}
	}
}
