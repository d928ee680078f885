// Package deploy gives programs what the files beside it say.
package deploy

import (
	_ "embed" // of the manifest
	"encoding/json"
	"fmt"
)

//go:embed app-manifest.json
var manifest []byte

// Manifest is what the App must be registered with, as app-manifest.json has it.
type Manifest struct {
	Permissions map[string]string `json:"default_permissions"` // names and levels
	Events      []string          `json:"default_events"`
}

// AppManifest reads it.
func AppManifest() (Manifest, error) {
	var m Manifest
	if err := json.Unmarshal(manifest, &m); err != nil {
		return m, fmt.Errorf("read app-manifest.json: %w", err)
	}
	return m, nil
}
