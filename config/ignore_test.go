package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The paths that a layer ignores are added to those of the layers below.
func TestIgnoredPathsOfAllLayers(t *testing.T) {
	cfg, problems := Load(
		named(layer(FileSettings, `{"ignore": [{"paths": ["a/**"], "reason": "r"}]}`), LayerServer),
		named(layer(FileSettings, `{"ignore": [{"paths": ["b/**"], "rules": ["sonar/S1"], "reason": "r"}]}`), LayerRepository),
	)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	want := []Ignored{{Paths: []string{"a/**"}, Reason: "r"}, {Paths: []string{"b/**"}, Rules: []string{"sonar/S1"}, Reason: "r"}}
	if diff := cmp.Diff(want, cfg.Settings.Ignore); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
}

func TestProblemsOfIgnoredPaths(t *testing.T) {
	for text, want := range map[string]string{
		`{"ignore": [{"paths": ["a/**"]}]}`:                                                `"reason" is missing`,
		`{"ignore": [{"reason": "r"}]}`:                                                    `"paths" is missing`,
		`{"ignore": [{"paths": ["[a"], "reason": "r"}]}`:                                   `the glob "[a" is refused`,
		`{"ignore": [{"paths": ["a/**"], "agents": ["secrets"], "reason": "r"}]}`:          `secrets can't be ignored by path; leave it out; secrets.allow allows single values`,
		`{"ignore": [{"paths": ["a/**"], "reason": "r", "until": "tomorrow"}]}`:            `"until" is not a field`,
		`{"ignore": [{"paths": ["a/**"], "rules": ["sec-tls-verfy-01"], "reason": "r"}]}`:  `there is no rule "sec-tls-verfy-01"; did you mean "sec-tls-verify-01"?`,
		`{"ignore": [{"paths": ["a/**"], "agents": ["security-reviewr"], "reason": "r"}]}`: `there is no agent "security-reviewr"; did you mean "security-reviewer"?`,
		`{"ignore": [{"paths": ["a/**"], "reason": "` + strings.Repeat("x", 301) + `"}]}`:  `300`,
	} {
		_, problems := Load(named(layer(FileSettings, text), LayerRepository))
		if len(problems) != 1 || !strings.Contains(FormatProblem(problems[0]), want) {
			t.Errorf("%s: problems %v, want %s", text, problems, want)
		}
	}
}

// An entry that ignores every file gives a warning.
func TestWarningsOfIgnoredPaths(t *testing.T) {
	for text, want := range map[string]string{
		`{"paths": ["**"]}`: `the entry of ignore with the reason "r" match every file, so only secrets and final findings count; name the paths that are meant`,
		`{"paths": ["**/*"], "agents": ["security-reviewer"]}`:     `so no finding of security-reviewer counts; name the paths that are meant, or switch the agents or rules off`,
		`{"paths": ["*", "*/**"], "rules": ["sec-tls-verify-01"]}`: `so no finding of sec-tls-verify-01 counts`,
		`{"paths": ["**/*.go"]}`:                                   "",
		`{"paths": ["src/**", "*"]}`:                               "",
	} {
		text = strings.TrimSuffix(text, "}") + `, "reason": "r"}`
		cfg, problems := Load(named(layer(FileSettings, `{"ignore": [`+text+`]}`), LayerRepository))
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		var got []string
		for _, w := range cfg.Warnings() {
			got = append(got, FormatProblem(w))
		}
		if len(got) > 1 || (want == "") != (len(got) == 0) || !strings.Contains(strings.Join(got, ""), want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
