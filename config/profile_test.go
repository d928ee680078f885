package config

import (
	"slices"
	"testing"
)

// A rule of the profile strict runs where the settings in force choose that profile, or where the
// rule is final. Each layer can choose the profile for itself, but an organisation can't make the
// server's milder.
func TestProfiles(t *testing.T) {
	const id = "build-go-errorf-v-01"
	settings := func(layer, text string) Layer { return textLayer(layer, FileSettings, text) }
	organisation := func(text string) Layer {
		l := settings(LayerOrganisation, text)
		l.Organisation = "acme"
		return l
	}
	for name, tc := range map[string]struct {
		layers []Layer
		want   bool
	}{
		"the defaults":                       {nil, false},
		"a strict server":                    {[]Layer{settings(LayerServer, `{"profile": "strict"}`)}, true},
		"a strict repository":                {[]Layer{settings(LayerRepository, `{"profile": "strict"}`)}, true},
		"a stricter organisation":            {[]Layer{organisation(`{"profile": "strict"}`)}, true},
		"a milder repository":                {[]Layer{settings(LayerServer, `{"profile": "strict"}`), settings(LayerRepository, `{"profile": "default"}`)}, false},
		"a milder organisation":              {[]Layer{settings(LayerServer, `{"profile": "strict"}`), organisation(`{"profile": "default"}`)}, true},
		"a final profile":                    {[]Layer{settings(LayerServer, `{"profile": "strict", "final": ["profile"]}`), settings(LayerRepository, `{"profile": "default"}`)}, true},
		"the rule moved into the default":    {[]Layer{textLayer(LayerRepository, FileRules, `[{"id": "`+id+`", "profile": "default"}]`)}, true},
		"a final rule":                       {[]Layer{textLayer(LayerServer, FileRules, `[{"id": "`+id+`", "final": true}]`)}, true},
		"the rule switched off in strict":    {[]Layer{settings(LayerRepository, `{"profile": "strict"}`), textLayer(LayerRepository, FileRules, `[{"id": "`+id+`", "enabled": false}]`)}, false},
		"the rule in evaluation, in default": {[]Layer{textLayer(LayerRepository, FileRules, `[{"id": "`+id+`", "mode": "evaluate"}]`)}, false},
	} {
		c, _ := Load(tc.layers...)
		if got := c.Rule(id) != nil; got != tc.want {
			t.Errorf("%s: the rule runs: %t, want %t", name, got, tc.want)
		}
		if c.Evaluation.ruleOf(id) != nil {
			t.Errorf("%s: the rule is in evaluation", name)
		}
		left := slices.ContainsFunc(c.Strict, func(r Rule) bool { return r.ID == id })
		if want := !tc.want && name != "the rule switched off in strict" && name != "the rule in evaluation, in default"; left != want {
			t.Errorf("%s: the profile leaves the rule out: %t, want %t", name, left, want)
		}
	}
}
