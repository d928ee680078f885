package run

import (
	"context"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/normalize"
	"github.com/reviewgate/reviewgate/pipeline/raw"
)

// excepting is a change to a base with a .gitleaks.toml.
type excepting struct {
	inMemory
	text string
}

func (s *excepting) Config(context.Context) (normalize.ConfigRead, error) {
	return normalize.ConfigRead{Config: s.cfg, Exceptions: []byte(s.text)}, nil
}

// A .gitleaks.toml allows nothing if the agent for secrets is final, and the review says so.
func TestExceptionsAndFinalAgents(t *testing.T) {
	const allows = "[[allowlists]]\npaths = ['^sandbox/']\n"
	for name, tt := range map[string]struct{ agents, text, want string }{
		"final":                      {`[{"id": "secrets", "final": true}]`, allows, `it allows nothing that the agent "secrets" finds, since that is final in the server's layer`},
		"not final":                  {`[]`, allows, ""},
		"no file":                    {`[{"id": "secrets", "final": true}]`, "", ""},
		"allowlists without entries": {`[{"id": "secrets", "final": true}]`, "title = 'x'\n", ""},
		"other keys":                 {`[]`, "[[rules]]\nid = 'mine'\nregex = 'x'\n", ""},
	} {
		cfg, problems := config.Load(layerOf(config.LayerServer, map[string]string{config.FileAgents: tt.agents}))
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		_, wrong := readExceptions(cfg, []byte(tt.text))
		src := &excepting{inMemory{cfg: cfg, files: []raw.ChangedFile{{
			Path: "sandbox/a.py", Status: pipeline.FileAdded, Additions: 1, Patch: "@@ -0,0 +1 @@\n+t = '" + oneToken + "'",
		}}}, tt.text}
		out, err := newRunner(t, nil).Run(t.Context(), src, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if d, allowed := out.Review.Report.Decision, tt.text == allows && tt.want == ""; d.Blocks() == allowed {
			t.Errorf("%s: %s", name, d)
		}
		if got := strings.Join(wrong, "\n"); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
