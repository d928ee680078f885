package doctor

import (
	"maps"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/deploy"
)

// permission is a permission that reviewgate uses.
type permission struct{ name, level, why string }

// optional lists the permissions of optional features, which the App's manifest does not
// request. on reports whether a config switches the feature on.
var optional = []struct {
	permission
	on func(*config.Config) bool
}{
	{permission{"issues", "write", "for deferred issues"}, func(c *config.Config) bool {
		return c.Settings.Issues.TechDebt || c.Settings.Issues.Gaps || c.Settings.Issues.Probation
	}},
	{permission{"contents", "write", "to resolve the threads of comments on lines"}, func(*config.Config) bool {
		return false // the comments say what became of their findings without it, too
	}},
	{permission{"members", "read", "for teams in the settings"}, namesTeams},
	{permission{"security_events", "read", "for code-scanning alerts"}, takesAlerts},
}

// namesTeams reports whether the settings give rights to members of teams.
func namesTeams(c *config.Config) bool {
	return len(c.Settings.Commands.OverrideTeams) > 0 ||
		slices.ContainsFunc(c.Settings.Memory.Approvers, func(who string) bool { return strings.Contains(who, "/") })
}

// takesAlerts reports whether an enabled agent reads code-scanning alerts.
func takesAlerts(c *config.Config) bool {
	return slices.ContainsFunc(c.Agents, func(a config.Agent) bool { return a.Enabled && a.Scanning.TakesAlerts() })
}

// uses says why the manifest requests each permission and event.
var uses = map[string]string{
	"checks":        "to write the check",
	"contents":      "to read changes and config",
	"issues":        "to receive comments",
	"merge_queues":  "to receive merge groups",
	"metadata":      "which every App has",
	"pull_requests": "to read pull requests and to comment",
	"statuses":      "so that rulesets offer the App as the check's source",
	"check_run":     "to review again on request",
	"issue_comment": "for commands",
	"merge_group":   "without it a merge queue waits for ever",
	"pull_request":  "without it there are no reviews",
	"push":          "to see that config has changed",
	"repository":    "to see that a repository was renamed, moved or deleted",

	"repository_dispatch":         "for events of coding agents",
	"pull_request_review":         "for commands in reviews",
	"pull_request_review_comment": "for commands at lines of the change",
}

// withWhy returns a name with its purpose.
func withWhy(name, why string) string { return name + " (" + why + ")" }

// wantedPermissions returns the permissions of the manifest and of the features that the
// config switches on.
func wantedPermissions(m deploy.Manifest, cfg *config.Config) []permission {
	var wanted []permission
	for _, name := range slices.Sorted(maps.Keys(m.Permissions)) {
		wanted = append(wanted, permission{name, m.Permissions[name], uses[name]})
	}
	for _, o := range optional {
		if o.on(cfg) {
			wanted = append(wanted, o.permission)
		}
	}
	return wanted
}

// levels of a permission, least first.
var levels = []string{"", "read", "write", "admin"}

func below(granted, wanted string) bool {
	return slices.Index(levels, granted) < slices.Index(levels, wanted)
}

// compare lists the wanted permissions that are missing, the other granted permissions that
// some config may use, and the granted permissions that reviewgate never uses.
func compare(wanted []permission, granted map[string]string) (missing, more, useless []string) {
	for _, p := range wanted {
		if below(granted[p.name], p.level) {
			missing = append(missing, withWhy(p.name+": "+p.level, p.why))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(granted)) {
		level := granted[name]
		if slices.ContainsFunc(wanted, func(p permission) bool { return p.name == name && !below(p.level, level) }) {
			continue
		}
		text := name + ": " + level
		useless = append(useless, text)
		for _, o := range optional {
			if o.name == name && o.level == level {
				useless, more = useless[:len(useless)-1], append(more, withWhy(text, o.why))
			}
		}
	}
	return missing, more, useless
}
