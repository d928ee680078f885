package aggregate

import (
	"slices"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/glob"
)

// ignored is an entry of the settings' ignore, with its paths compiled.
type ignored struct {
	config.Ignored
	paths *glob.Set
}

// leftOut returns the entries of the settings' ignore.
func (w *work) leftOut() []ignored {
	var out []ignored
	for _, e := range w.in.Config.Settings.Ignore {
		paths, err := glob.Compile(e.Paths)
		if err != nil {
			continue // the config was validated: it has no such glob
		}
		out = append(out, ignored{e, paths})
	}
	return out
}

// ignore sets a finding aside if the config leaves its path out. Secrets count wherever
// they stand. A later layer can't ignore what is final, and the finding says so.
func (w *work) ignore(f *item, entries []ignored) bool {
	if len(entries) == 0 || f.Path == "" || w.kind(f.Agent) == config.KindSecrets {
		return false
	}
	for i := range entries {
		e := &entries[i]
		if len(e.Agents) > 0 && !slices.Contains(e.Agents, f.Agent) || len(e.Rules) > 0 && !slices.Contains(e.Rules, f.RuleID) || !e.paths.Any(f.Path) {
			continue
		}
		if w.final(f) {
			f.because(pipeline.ReasonNotIgnored + "no ignore of the config leaves out what is final")
			return false
		}
		f.because("ignored by the config, for its path")
		w.setAside(f, pipeline.StateSuppressed, "ignored by config: "+e.Reason)
		return true
	}
	return false
}
