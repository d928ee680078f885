package config

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/pipeline"
)

// edited returns the embedded defaults with a text replaced in one file.
func edited(t *testing.T, file, old, by string) Layer {
	t.Helper()
	l := DefaultLayer()
	for i := range l.Files {
		if f := &l.Files[i]; f.Path == file {
			if !bytes.Contains(f.Text, []byte(old)) {
				t.Fatalf("%s does not have %s", file, old)
			}
			f.Text, f.BlobSHA = bytes.Replace(f.Text, []byte(old), []byte(by), 1), ""
		}
	}
	return l
}

// A stored review is read with the defaults that it was made with, whatever this version's are.
func TestLoadOver(t *testing.T) {
	own := Layer{Name: LayerRepository, Files: []File{{Path: FileSettings, Text: []byte(`{"check": {"name": "own"}}`)}}}
	now, problems := Load(own)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	same, problems := LoadOver(DefaultLayer(), own)
	if len(problems) > 0 || same.Key != now.Key {
		t.Errorf("over the embedded defaults: another key, or %v", problems)
	}
	id := now.Rules[0].ID
	was, problems := LoadOver(edited(t, FileRules, `"`+id+`"`, `"another-id"`), own)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	named := func(r Rule) bool { return r.ID == "another-id" }
	if !slices.ContainsFunc(was.Rules, named) || slices.ContainsFunc(now.Rules, named) || was.Settings.Check.Name != "own" {
		t.Errorf("over other defaults: check %q, want the rule of those defaults and the layer's check", was.Settings.Check.Name)
	}
	if was.Key == now.Key || was.InForce.Version == now.InForce.Version {
		t.Error("other defaults make a config with the same key or version")
	}
	again, _ := LoadOver(edited(t, FileRules, `"`+id+`"`, `"another-id"`), own)
	if again.Key != was.Key {
		t.Error("the same defaults make a config with another key")
	}
}

func TestLoadOverUnreadableDefaults(t *testing.T) {
	cfg, problems := LoadOver(edited(t, FileRules, `"severity"`, `"harshness"`))
	if cfg != nil || !slices.ContainsFunc(problems, func(p pipeline.ConfigProblem) bool { return strings.Contains(p.Problem, "harshness") }) {
		t.Errorf("config %v, problems %v, want none and one that names the member", cfg != nil, problems)
	}
}
