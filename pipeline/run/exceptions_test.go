package run

import (
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/config"
)

// A .gitleaks.toml that can't allow anything, since the agent for secrets is final, is named.
func TestExceptionsAgainstWhatIsFinal(t *testing.T) {
	const allows = "[[allowlists]]\npaths = ['^sandbox/']\n"
	for name, tt := range map[string]struct{ agents, text, want string }{
		"final":      {`[{"id": "secrets", "final": true}]`, allows, `it allows nothing that the agent "secrets" finds, since that is final in the server's layer`},
		"not final":  {`[]`, allows, ""},
		"no file":    {`[{"id": "secrets", "final": true}]`, "", ""},
		"no lists":   {`[{"id": "secrets", "final": true}]`, "title = 'x'\n", ""},
		"other keys": {`[]`, "[[rules]]\nid = 'mine'\nregex = 'x'\n", ""},
	} {
		cfg, problems := config.Load(layerOf(config.LayerServer, map[string]string{config.FileAgents: tt.agents}))
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		_, said := readExceptions(cfg, []byte(tt.text))
		if got := strings.Join(said, "\n"); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
