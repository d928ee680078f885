package doctor

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/deploy"
)

// The doctor gives a reason for each permission and event of the App's manifest, and for no other.
func TestEachNeedHasAReason(t *testing.T) {
	m, err := deploy.AppManifest()
	if err != nil {
		t.Fatal(err)
	}
	needed := map[string]bool{}
	for _, name := range slices.Concat(slices.Collect(maps.Keys(m.Permissions)), m.Events) {
		if needed[name] = true; uses[name] == "" {
			t.Errorf("%s is in deploy/app-manifest.json without a reason: add one to uses in app/doctor/needs.go", name)
		}
	}
	for name := range uses {
		if !needed[name] {
			t.Errorf("%s has a reason, but deploy/app-manifest.json does not request it: remove it from uses in app/doctor/needs.go", name)
		}
	}
}

func TestCompare(t *testing.T) {
	manifest := deploy.Manifest{Permissions: map[string]string{"checks": "write", "contents": "read"}}
	type lists struct{ Missing, More, Useless []string }
	on := true
	var none, issues, teams, approvers, logins, alerts config.Config
	issues.Settings.Issues.Gaps = true
	teams.Settings.Commands.OverrideTeams = []string{"acme/leads"}
	approvers.Settings.Memory.Approvers = []string{"mia", "acme/leads"}
	logins.Settings.Memory.Approvers = []string{"mia"}
	alerts.Agents = []config.Agent{{Enabled: true, Scanning: &config.ScanSources{Alerts: &on}}, {Enabled: true}}
	all := map[string]string{"checks": "write", "contents": "read"}
	for name, c := range map[string]struct {
		cfg     config.Config
		granted map[string]string
		want    lists
	}{
		"as wanted":      {none, map[string]string{"checks": "write", "contents": "read"}, lists{}},
		"too low":        {none, map[string]string{"checks": "read"}, lists{Missing: []string{"checks: write (to write the check)", "contents: read (to read changes and config)"}}},
		"not needed now": {none, map[string]string{"checks": "write", "contents": "read", "issues": "write", "security_events": "read"}, lists{More: []string{"issues: write (for deferred issues)", "security_events: read (for code-scanning alerts)"}}},
		"issues":         {issues, all, lists{Missing: []string{"issues: write (for deferred issues)"}}},
		"teams":          {teams, all, lists{Missing: []string{"members: read (for teams in the settings)"}}},
		"approvers":      {approvers, all, lists{Missing: []string{"members: read (for teams in the settings)"}}},
		"logins":         {logins, all, lists{}},
		"alerts":         {alerts, all, lists{Missing: []string{"security_events: read (for code-scanning alerts)"}}},
		"helps":          {none, map[string]string{"checks": "write", "contents": "write"}, lists{More: []string{"contents: write (to resolve the threads of comments on lines)"}}},
		"never needed":   {none, map[string]string{"checks": "write", "contents": "read", "security_events": "write", "secrets": "read"}, lists{Useless: []string{"secrets: read", "security_events: write"}}},
	} {
		var got lists
		got.Missing, got.More, got.Useless = compare(wantedPermissions(manifest, &c.cfg), c.granted)
		if diff := cmp.Diff(c.want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
