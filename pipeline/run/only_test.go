package run

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/pipeline/gapdetect"
	"github.com/reviewgate/reviewgate/pipeline/raw"
)

// onlyRules are two rules of one agent and one of another, each of which finds a word. One more is
// in evaluation, and one is switched off.
var onlyRules = "[" + strings.Join([]string{
	wordRule("own-one-01", "build-reviewer", "alpha", ""),
	wordRule("own-two-01", "build-reviewer", "beta", ""),
	wordRule("own-other-01", "security-reviewer", "gamma", ""),
	wordRule("own-tried-01", "build-reviewer", "delta", `, "mode": "evaluate"`),
	wordRule("own-off-01", "build-reviewer", "epsilon", `, "enabled": false`),
}, ",") + "]"

func onlyConfig(t *testing.T) *config.Config {
	t.Helper()
	cfg, problems := config.Load(layerOf(config.LayerRepository, map[string]string{config.FileRules: onlyRules}))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return cfg
}

func TestOnly(t *testing.T) {
	cfg := onlyConfig(t)
	lines := apart("package a", "// alpha", "// beta", "// gamma", "// delta", "// epsilon", `const token = "gh`+`p_1fKq8ZrT5wYv3NcXb7LmJd9PsHg2RtUaWe4Q"`)
	for name, tt := range map[string]struct {
		ids     []string
		ran     []string
		found   []string // findings by our rules, and by those for secrets
		tried   []string // in evaluation
		why     string
		blocked bool
	}{
		"an agent":               {[]string{"build-reviewer"}, []string{"build-reviewer"}, []string{"own-one-01", "own-two-01"}, []string{"own-tried-01"}, "only build-reviewer: 4 other agents did not run", true},
		"a rule":                 {[]string{"own-two-01"}, []string{"build-reviewer"}, []string{"own-two-01"}, nil, "only own-two-01: other rules and 4 other agents did not run", true},
		"rules of two agents":    {[]string{"own-two-01", " own-other-01", "own-two-01"}, []string{"build-reviewer", "security-reviewer"}, []string{"own-other-01", "own-two-01"}, nil, "only own-two-01, own-other-01: other rules and 3 other agents did not run", true},
		"an agent and its rule":  {[]string{"build-reviewer", "own-two-01"}, []string{"build-reviewer"}, []string{"own-one-01", "own-two-01"}, []string{"own-tried-01"}, "only build-reviewer, own-two-01: 4 other agents did not run", true},
		"a rule in evaluation":   {[]string{"own-tried-01"}, []string{"build-reviewer"}, nil, []string{"own-tried-01"}, "only own-tried-01: other rules and 4 other agents did not run", false},
		"secrets":                {[]string{"secrets"}, []string{"secrets"}, []string{"secret-github-pat"}, nil, "only secrets: 4 other agents did not run", true},
		"a kind of secret":       {[]string{"secret-github-pat"}, []string{"secrets"}, []string{"secret-github-pat"}, nil, "only secret-github-pat: other rules and 4 other agents did not run", true},
		"another kind of secret": {[]string{"secret-jwt"}, []string{"secrets"}, nil, nil, "only secret-jwt: other rules and 4 other agents did not run", false},
		"not chosen":             {[]string{"infra-reviewer"}, nil, nil, nil, "only infra-reviewer: 5 other agents did not run; no policy chose infra-reviewer", false},
	} {
		t.Run(name, func(t *testing.T) {
			only, err := NewOnly(cfg, tt.ids)
			if err != nil {
				t.Fatal(err)
			}
			change := &inMemory{cfg: cfg, files: []raw.ChangedFile{{
				Path: "src/a.go", Status: pipeline.FileAdded, Additions: len(lines), Patch: "@@ -0,0 +1," + strconv.Itoa(len(lines)) + " @@\n+" + strings.Join(lines, "\n+"),
			}}}
			out, err := newRunner(t, nil).Run(t.Context(), change, Options{Only: only})
			if err != nil {
				t.Fatal(err)
			}
			v := out.Review
			var ran []string
			for _, r := range v.Results {
				ran = append(ran, r.Agent)
			}
			slices.Sort(ran)
			if !slices.Equal(ran, tt.ran) {
				t.Errorf("%v ran, want %v", ran, tt.ran)
			}
			ours := slices.DeleteFunc(found(v.Report.Findings), func(id string) bool {
				return !strings.HasPrefix(id, "own-") && !strings.HasPrefix(id, pipeline.SecretRulePrefix)
			})
			if !slices.Equal(ours, tt.found) {
				t.Errorf("found %v, want %v", ours, tt.found)
			}
			var tried []string
			if e := v.Report.Evaluation; e != nil {
				tried = found(e.Findings)
			}
			if !slices.Equal(tried, tt.tried) {
				t.Errorf("in evaluation found %v, want %v", tried, tt.tried)
			}
			want := pipeline.Incompleteness{What: pipeline.IncompleteOnly, Why: tt.why}
			if got := v.Report.Incomplete; len(got) != 1 || got[0] != want {
				t.Errorf("incomplete %+v, want %+v", got, want)
			}
			if v.Report.Decision.Blocks() != tt.blocked || v.Report.Gate.Metrics["incomplete"] != 0 || len(v.Report.GapLog) > 0 {
				t.Errorf("decision %s, metrics %v, gaps %v", v.Report.Decision, v.Report.Gate.Metrics, v.Report.GapLog)
			}
			if all := len(v.Manifest.Entries) + len(v.Manifest.Skipped); all != len(shippedAgents(cfg)) {
				t.Errorf("the manifest has %d agents, want all", all)
			}
		})
	}
}

func shippedAgents(cfg *config.Config) (ids []string) {
	for i := range cfg.Agents {
		if !cfg.Absent(&cfg.Agents[i]) {
			ids = append(ids, cfg.Agents[i].ID)
		}
	}
	return ids
}

// With Only, no model looks for gaps, and a proposed config is not tried.
func TestOnlyAsksForNothingElse(t *testing.T) {
	cfg := onlyConfig(t)
	cfg.Settings.ModelEndpoints = []config.ModelEndpoint{{Name: "haiku"}}
	cfg.Settings.Models.GapDetector = "haiku"
	rekey(cfg, "only")
	only, err := NewOnly(cfg, []string{"secrets"})
	if err != nil {
		t.Fatal(err)
	}
	change := &inMemory{cfg: cfg, files: []raw.ChangedFile{{
		Path: config.RepositoryDir + "/" + config.FileSettings, Status: pipeline.FileAdded, Additions: 1, Patch: "@@ -0,0 +1 @@\n+{}",
	}}}
	asked := 0
	options := Options{
		Only: only,
		GapModel: func(IOAgent) GapModel {
			asked++
			return noGaps{}
		},
		Proposed: func(context.Context, *pipeline.PRFacts) (*config.Config, error) {
			asked++
			return cfg, nil
		},
	}
	if _, err := newRunner(t, nil).Run(t.Context(), change, options); err != nil || asked != 0 {
		t.Errorf("asked %d times, %v", asked, err)
	}
	options.Only = nil
	if _, err := newRunner(t, nil).Run(t.Context(), change, options); err != nil || asked != 2 {
		t.Errorf("without Only: asked %d times, %v", asked, err)
	}
}

type noGaps struct{}

func (noGaps) Gaps(context.Context, dispatch.Task, GapChoice) ([]gapdetect.Proposal, string, error) {
	return nil, "", nil
}

func TestUnknownOnly(t *testing.T) {
	cfg := onlyConfig(t)
	for id, want := range map[string]string{
		"security":         `no agent or rule "security" that is switched on; did you mean "security-reviewer"?`,
		"secrts":           `did you mean "secrets"?`,
		"own-one-1":        `did you mean "own-one-01"?`,
		"own":              `did you mean "own-one-01" or "own-other-01" or "own-tried-01" or "own-two-01"?`,
		"own-off-01":       `no agent or rule "own-off-01"`,
		"secret-no-such":   `no agent or rule "secret-no-such"`,
		"nothing-like-it":  "; the agents are api-reviewer, build-reviewer, ",
		"":                 `no agent or rule ""`,
		"code-scanning":    `no agent or rule "code-scanning"`, // switched off
		"\x1b[2J\nhostile": `no agent or rule "\x1b[2J\nhostile" that is switched on; the agents are `,
	} {
		_, err := NewOnly(cfg, []string{"secrets", id})
		if err == nil || !strings.Contains(err.Error(), want) || strings.ContainsAny(err.Error(), "\x1b\n") {
			t.Errorf("%q: %v, want %q", id, err, want)
		}
	}
}

// The coverage names the rules of the layers that do not run, and why. Those of the defaults are not
// named.
func TestIdleRulesAreNoted(t *testing.T) {
	cfg, problems := config.Load(config.Layer{Name: config.LayerRepository, Files: []config.File{{Path: config.FileRules, Text: []byte(`[
		{"id": "prose", "severity": "major", "description": "d", "detection": "d"},
		{"id": "strict", "severity": "major", "description": "d", "match": {"literal": "x"}, "profile": "strict"}]`)}}})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	for _, test := range []struct {
		cfg  *config.Config
		want string
	}{
		{cfg, "nothing checks these rules, because they need a language model and none is configured: prose; these rules run only in the profile strict: strict"},
		{shipped(t), ""},
	} {
		change := change(t)
		change.cfg = test.cfg
		out, err := newRunner(t, nil).Run(t.Context(), change, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range out.Review.Report.Coverage {
			if row.Agent == "build-reviewer" && row.Note != test.want {
				t.Errorf("the note is %q, want %q", row.Note, test.want)
			}
		}
	}
	if _, err := NewOnly(cfg, []string{"strict"}); err == nil || !strings.Contains(err.Error(), `"profile": "strict"`) {
		t.Errorf("--only strict: %v", err)
	}
}
