package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/reviewgate/reviewgate/config"
)

// A model sees the document's path in the working directory, and no path of the user's machine.
func TestShownPath(t *testing.T) {
	t.Chdir(t.TempDir())
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{
		"specs/./SPEC.md": "specs/SPEC.md", filepath.Join(dir, "specs", "SPEC.md"): "specs/SPEC.md",
		"/home/alice/client-x/SPEC.md": "SPEC.md", "../client-x/SPEC.md": "SPEC.md",
	} {
		if got := shownPath(file); got != want {
			t.Errorf("%s is shown as %s, want %s", file, got, want)
		}
	}
}

// A threshold that a layer made final for pull requests can't be lowered on the command line.
func TestThresholdsOfTheCommandLine(t *testing.T) {
	layer := func(name, file, text string) config.Layer {
		return config.Layer{Name: name, Source: "test", Files: []config.File{{Path: file, Text: []byte(text)}}}
	}
	low := layer(config.LayerRepository, config.FileSettings, `{"thresholds": {"confidence_level": 0.1}}`)
	for name, tt := range map[string]struct {
		layers []config.Layer
		want   float64
	}{
		"lowered": {[]config.Layer{low}, 0.1},
		"final":   {[]config.Layer{layer(config.LayerServer, config.FileAgents, `[{"id": "review-reports", "final": true}]`), low}, 0.7},
	} {
		cfg, problems := config.Load(tt.layers...)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		if got := thresholdsOf(cfg).ConfidenceLevel; got != tt.want {
			t.Errorf("%s: %g, want %g", name, got, tt.want)
		}
	}
}
