package store

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Older versions stored a single waiting notice. It can still be read.
func TestSingleNoticeOfOlderVersions(t *testing.T) {
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
