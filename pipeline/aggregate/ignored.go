package aggregate

import (
	"slices"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/glob"
)

// ignoreEntry is an entry of the settings' ignore with its paths compiled.
type ignoreEntry struct {
	config.Ignored
	paths *glob.Set
}

// ignoreEntries returns the entries of the settings' ignore.
func ignoreEntries(all []config.Ignored) []ignoreEntry {
	var out []ignoreEntry
	for _, e := range all {
		paths, err := glob.Compile(e.Paths)
		if err != nil {
			continue // can't happen: the config was validated
		}
		out = append(out, ignoreEntry{e, paths})
	}
	return out
}

// ignore suppresses a finding if the config ignores its path. Secrets always count. A later layer
// can't ignore a final finding, and the finding's reasons say so.
func (s *suppressor) ignore(f *item) bool {
	if len(s.ignored) == 0 || f.Path == "" || s.in.secrets[f.Agent] {
		return false
	}
	for i := range s.ignored {
		e := &s.ignored[i]
		if len(e.Agents) > 0 && !slices.Contains(e.Agents, f.Agent) || len(e.Rules) > 0 && !slices.Contains(e.Rules, f.RuleID) || !e.paths.Any(f.Path) {
			continue
		}
		if s.in.final(f) {
			f.addReasonOf(pipeline.ReasonNotIgnored, "no ignore of the config leaves out what is final")
			return false
		}
		f.addReason("ignored by the config, for its path")
		f.suppress(s.report, pipeline.StateSuppressed, "ignored by config: "+e.Reason)
		return true
	}
	return false
}
