package main

import (
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/config"
)

// A warning is new if another place has the same one already, but not if it only moved to another line.
func TestNewWarnings(t *testing.T) {
	load := func(text string) *config.Config {
		t.Helper()
		cfg, problems := config.Load(config.Layer{Name: config.LayerServer, Files: []config.File{{Path: config.FileSettings, Text: []byte(text)}}})
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		return cfg
	}
	one := `{"repositories": [{"globs": ["shop"], "mode": "off"}]}`
	for name, test := range map[string]struct {
		after string
		new   int
	}{
		"the same":           {one, 0},
		"on another line":    {"\n" + one, 0},
		"at a second place":  {`{"repositories": [{"globs": ["shop"], "mode": "off"}, {"globs": ["shop"], "mode": "advisory"}]}`, 1},
		"a different glob":   {`{"repositories": [{"globs": ["web"], "mode": "off"}]}`, 1},
		"nothing to warn of": {`{"repositories": [{"globs": ["acme/shop"], "mode": "off"}]}`, 0},
	} {
		if got := newWarnings(load(one), load(test.after)); strings.Count(got, "warning: ") != test.new {
			t.Errorf("%s: the new warnings are %q, want %d", name, got, test.new)
		}
	}
}
