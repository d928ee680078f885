package apptest

import (
	"fmt"

	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/config"
)

// Paths of config in a repository.
const (
	SettingsPath = config.RepositoryDir + "/" + config.FileSettings
	RulesPath    = config.RepositoryDir + "/" + config.FileRules
)

// WithServer starts a world whose server has its own config layer.
func WithServer(files map[string]string) func(*World) {
	return func(w *World) {
		w.Server = config.Layer{Name: config.LayerServer, Source: "/etc/reviewgate"}
		for name, text := range files {
			w.Server.Files = append(w.Server.Files, config.File{Path: name, Text: []byte(text)})
		}
	}
}

// OwnRule is a rule that finds a word in added lines.
func OwnRule(id, word, more string) string {
	return fmt.Sprintf(`{"id": %q, "name": "Banned word %s", "severity": "major", "agent": "build-reviewer", "category": "words",
  "description": "The word is not ours.", "detection": "The word in added lines", "recommendation": "Use another.", "match": {"literal": %q}%s}`, id, word, word, more)
}

// Milder turns the major finding into a warning.
const Milder = `[{"id": "sec-tls-verify-01", "severity": "warning"}]`

// WordRule is config with a rule that forbids a word.
func WordRule(id string) ghtest.Files {
	return ghtest.Files{RulesPath: "[" + OwnRule(id, "frobnicate", "") + "]"}
}

// AWord is a change with the word that WordRule forbids.
func AWord(name string) ghtest.Files {
	return ghtest.Files{"store/" + name + ".go": "package store\n\n// frobnicate\n"}
}

// Releases gives release branches their own config.
const Releases = `{"config_branches": ["main", "release/*"]}`

// LayerOf is a layer that only has settings.
func LayerOf(name, settings string) config.Layer {
	return config.Layer{Name: name, Source: "here", Files: []config.File{{Path: "review-settings.json", Text: []byte(settings)}}}
}
