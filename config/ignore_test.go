package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What a layer ignores is added to what the layers below ignore.
func TestIgnoredPathsOfAllLayers(t *testing.T) {
	cfg, problems := Load(
		named(layer(FileSettings, `{"ignore": [{"paths": ["a/**"], "reason": "r"}]}`), LayerServer),
		named(layer(FileSettings, `{"ignore": [{"paths": ["b/**"], "rules": ["x"], "reason": "r"}]}`), LayerRepository),
	)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	want := []Ignored{{Paths: []string{"a/**"}, Reason: "r"}, {Paths: []string{"b/**"}, Rules: []string{"x"}, Reason: "r"}}
	if diff := cmp.Diff(want, cfg.Settings.Ignore); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
}

func TestProblemsOfIgnoredPaths(t *testing.T) {
	for text, want := range map[string]string{
		`{"ignore": [{"paths": ["a/**"]}]}`:                                               `"reason" is missing`,
		`{"ignore": [{"reason": "r"}]}`:                                                   `"paths" is missing`,
		`{"ignore": [{"paths": ["[a"], "reason": "r"}]}`:                                  `the glob "[a" is refused`,
		`{"ignore": [{"paths": ["a/**"], "agents": ["secrets"], "reason": "r"}]}`:         `secrets can't be ignored by path; leave it out; secrets.allow allows single values`,
		`{"ignore": [{"paths": ["a/**"], "reason": "r", "until": "tomorrow"}]}`:           `"until" is not a field`,
		`{"ignore": [{"paths": ["a/**"], "reason": "` + strings.Repeat("x", 301) + `"}]}`: `300`,
	} {
		_, problems := Load(named(layer(FileSettings, text), LayerRepository))
		if len(problems) != 1 || !strings.Contains(FormatProblem(problems[0]), want) {
			t.Errorf("%s: problems %v, want %s", text, problems, want)
		}
	}
}
