package inforce

import (
	"context"
	"testing"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
)

// own is a store with the files of one repository's layer, and with the rules on probation there.
type own struct {
	ports.Layers
	ports.Probations
	rules string
	rows  []ports.Probation
	err   error
}

func (o own) GoodLayer(_ context.Context, repoID int64, layer string) (*ports.GoodLayer, error) {
	if repoID == 0 || o.rules == "" {
		return nil, nil
	}
	return &ports.GoodLayer{Files: []ports.ConfigBlob{{Layer: layer, Path: config.RepositoryDir + "/" + config.FileRules, Text: []byte(o.rules)}}}, nil
}

func (o own) RepositoryNames(context.Context, int64) ([]string, error) {
	return []string{"acme/shop"}, nil
}

func (o own) OnProbation(context.Context, int64) ([]ports.Probation, error) { return o.rows, o.err }

const warns = "build-go-drop-error-01" // a rule of build-reviewer

var shop = ports.Target{Kind: ports.TargetPull, Installation: 1, RepoID: 2, Owner: "acme", Name: "shop"}

func configsOf(t *testing.T, o own, server ...config.File) *Configs {
	t.Helper()
	c, err := NewConfigs(Configs{Layers: o, Probations: o, Loader: config.NewLoader(4), Server: config.Layer{Name: config.LayerServer, Source: "test", Files: server}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A patch is proposed only if the repository's config may put the entry in evaluation.
func TestPatchesToEvaluate(t *testing.T) {
	final := config.File{Path: config.FileRules, Text: []byte(`[{"id": "` + warns + `", "final": true}]`)}
	for name, tc := range map[string]struct {
		rules    string
		server   []config.File
		file, id string
		ok       bool
		at       string
	}{
		"no file":                       {"", nil, config.FileRules, warns, true, "/items/-"},
		"an entry":                      {`[{"id": "` + warns + `", "severity": "info"}]`, nil, config.FileRules, warns, true, "/0/mode"},
		"another file":                  {`[]`, nil, config.FileAgents, "docs-reviewer", true, "/items/-"},
		"a final rule":                  {"", []config.File{final}, config.FileRules, warns, false, "/items/-"},
		"an agent that a rule needs":    {"", []config.File{final}, config.FileAgents, "build-reviewer", false, "/items/-"},
		"an agent that no rule needs":   {"", []config.File{final}, config.FileAgents, "docs-reviewer", true, "/items/-"},
		"a rule that does not exist":    {"", nil, config.FileRules, "no-such-rule", false, "/items/-"},
		"a rule that is switched off":   {`[{"id": "` + warns + `", "enabled": false}]`, nil, config.FileRules, warns, false, "/0/mode"},
		"a rule that is enforced there": {`[{"id": "` + warns + `", "mode": "enforce"}]`, nil, config.FileRules, warns, true, "/0/mode"},
	} {
		patch, ok, err := configsOf(t, own{rules: tc.rules}, tc.server...).PatchToEvaluate(t.Context(), shop, tc.file, tc.id)
		if err != nil || ok != tc.ok || patch.File != tc.file || patch.Operations[0].Path != tc.at {
			t.Errorf("%s: %t, %+v, %v", name, ok, patch, err)
		}
	}
}

// The layer of rules on probation lies over the defaults and is stored like the others. A review waits
// if the rules on probation can't be read.
func TestLayerOfRulesOnProbation(t *testing.T) {
	auto := config.File{Path: config.FileSettings, Text: []byte(`{"probation": "auto"}`)}
	read := ports.ConfigRead{Organisation: ports.ConfigSource{Source: "acme/.github"}, Repository: ports.ConfigSource{Source: "acme/shop"}}
	row := ports.Probation{Kind: ports.ProbationRule, ID: warns}
	blocks := row
	blocks.Blocks = true
	for name, tc := range map[string]struct {
		rows   []ports.Probation
		server []config.File
		want   int
	}{
		"a rule":                {[]ports.Probation{row}, []config.File{auto}, 1},
		"only proposed":         {[]ports.Probation{row}, nil, 0},
		"a finding blocked":     {[]ports.Probation{blocks}, []config.File{auto}, 0},
		"an agent of that name": {[]ports.Probation{{Kind: ports.ProbationAgent, ID: warns}}, []config.File{auto}, 0},
		"nothing":               {nil, []config.File{auto}, 0},
	} {
		laid, err := configsOf(t, own{rows: tc.rows}, tc.server...).Lay(t.Context(), shop, "", read, true)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(laid.Config.OnProbation()); n != tc.want {
			t.Errorf("%s: %d rules are on probation", name, n)
		}
		_, layers := LayersOf(&ports.StoredReview{Config: laid.Blobs})
		if has := len(layers) > 0 && layers[0].Name == config.LayerProbation; has != (tc.want > 0) {
			t.Errorf("%s: stored layers %v", name, layers)
		}
	}
	if _, err := configsOf(t, own{err: errForgotten}).Lay(t.Context(), shop, "", read, true); err == nil {
		t.Error("the rules on probation were guessed")
	}
}
