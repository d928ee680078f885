package doctor

import (
	"maps"
	"slices"

	"github.com/reviewgate/reviewgate/deploy"
)

// permission is one that reviewgate has a use for.
type permission struct{ name, level, why string }

// optional are the permissions of features that a config switches on, beyond
// those of the App's manifest.
var optional = []permission{
	{"issues", "write", "for deferred issues"},
	{"contents", "write", "for fixes"},
	{"members", "read", "for teams in the settings"},
	{"security_events", "read", "for code-scanning alerts"},
}

// uses are why the manifest asks for permissions and events.
var uses = map[string]string{
	"checks":        "to write the check",
	"contents":      "to read changes and config",
	"issues":        "to be told of comments",
	"merge_queues":  "to be told of merge groups",
	"metadata":      "which every App has",
	"pull_requests": "to read pull requests and to comment",
	"statuses":      "so that rulesets offer the App as the check's source",
	"check_run":     "to review again when asked to",
	"issue_comment": "for commands",
	"merge_group":   "or a merge queue waits for ever",
	"pull_request":  "or nothing is reviewed",
}

// withWhy is a name with what it is for, where that is known.
func withWhy(name, why string) string {
	if why == "" {
		return name
	}
	return name + " (" + why + ")"
}

// wantedPermissions are those of the manifest.
func wantedPermissions(m deploy.Manifest) []permission {
	var wanted []permission
	for _, name := range slices.Sorted(maps.Keys(m.Permissions)) {
		wanted = append(wanted, permission{name, m.Permissions[name], uses[name]})
	}
	return wanted
}

// levels of a permission, least first.
var levels = []string{"", "read", "write", "admin"}

func below(granted, wanted string) bool {
	return slices.Index(levels, granted) < slices.Index(levels, wanted)
}

// compare lists what is missing of what is wanted, what was granted beyond it
// that some config may use, and what nothing of reviewgate does.
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
		if i := slices.IndexFunc(optional, func(p permission) bool { return p.name == name && p.level == level }); i >= 0 {
			more = append(more, withWhy(text, optional[i].why))
		} else {
			useless = append(useless, text)
		}
	}
	return missing, more, useless
}
