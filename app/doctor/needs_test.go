package doctor

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/reviewgate/reviewgate/deploy"
)

func TestCompare(t *testing.T) {
	manifest := deploy.Manifest{Permissions: map[string]string{"checks": "write", "contents": "read"}}
	type lists struct{ Missing, More, Useless []string }
	for name, c := range map[string]struct {
		granted map[string]string
		want    lists
	}{
		"as wanted":      {map[string]string{"checks": "write", "contents": "read"}, lists{}},
		"too low":        {map[string]string{"checks": "read"}, lists{Missing: []string{"checks: write (to write the check)", "contents: read (to read changes and config)"}}},
		"not needed now": {map[string]string{"checks": "write", "contents": "write", "security_events": "read"}, lists{More: []string{"contents: write (for fixes)", "security_events: read (for code-scanning alerts)"}}},
		"never needed":   {map[string]string{"checks": "write", "contents": "read", "security_events": "write", "secrets": "read"}, lists{Useless: []string{"secrets: read", "security_events: write"}}},
	} {
		var got lists
		got.Missing, got.More, got.Useless = compare(wantedPermissions(manifest), c.granted)
		if diff := cmp.Diff(c.want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
