package memory

import (
	"encoding/json"
	"strings"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
)

// Patch is a change of the config that a person may make: an entry of a config file.
type Patch struct {
	File  string // its name, such as review-settings.json
	Lines []string
	Whole bool // the rule is switched off, and not only for some paths
}

// patchFor returns the change of config that stops a rule where people keep dismissing it: in the
// files of a service, or everywhere. It returns nil if the config has no such rule.
func patchFor(cfg *config.Config, r *ports.MemoryRecord) *Patch {
	if cfg.Rule(r.About.Rule) == nil {
		return nil
	}
	var paths []string
	for _, m := range cfg.Services {
		if r.About.Service != "" && m.Enabled && m.Service == r.About.Service {
			paths = append(paths, m.Globs...)
		}
	}
	reason := "people dismissed its findings as false positives (" + r.Name() + ")"
	if len(paths) > 0 {
		return &Patch{File: cfg.FileName(config.FileSettings), Lines: lines(map[string]any{
			"ignore": []config.Ignored{{Paths: paths, Rules: []string{r.About.Rule}, Reason: reason}},
		})}
	}
	return &Patch{File: cfg.FileName(config.FileRules), Whole: true, Lines: lines([]any{map[string]any{"id": r.About.Rule, "enabled": false}})}
}

func lines(v any) []string {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil { // texts, and lists of them
		panic(err)
	}
	return strings.Split(string(text), "\n")
}
