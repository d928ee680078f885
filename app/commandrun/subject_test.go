package commandrun

import (
	"encoding/json"
	"testing"

	"github.com/reviewgate/reviewgate/pipeline"
)

// A comment in the change asks to ignore a finding and waits for acceptance. It is recognised
// in reviews that older versions stored.
func TestStoredIgnoreWaits(t *testing.T) {
	for reason, want := range map[string]string{
		"not ignored: an ignore comment that this change adds waits for acceptance: a sandbox":                                "a sandbox",
		"not ignored: the line that this ignore comment is about has changed, so the comment waits for acceptance: a sandbox": "a sandbox",
		"not ignored: the config allows no inline comments":                                                                   "",
	} {
		stored, err := json.Marshal(map[string]any{"id": "0f3a", "reasons": []string{"merged 2 findings of a, b", reason}})
		if err != nil {
			t.Fatal(err)
		}
		var f pipeline.Finding
		if err := json.Unmarshal(stored, &f); err != nil {
			t.Fatal(err)
		}
		if got := subjectOf(&f).ignore; got != want {
			t.Errorf("%s: the reason of the comment that waits is %q, want %q", reason, got, want)
		}
	}
}
