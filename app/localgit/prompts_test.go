package localgit

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/reviewgate/reviewgate/config"
)

// told is the prompt that a config gives the reviewer of user interfaces.
func told(t *testing.T, c *config.Config) string {
	t.Helper()
	p, ok := c.Prompt(&config.Agent{ID: "design-auditor"})
	if !ok || len(c.InForce.Problems) > 0 {
		t.Fatalf("no prompt, and the problems %v", c.InForce.Problems)
	}
	return p.Text
}

// The prompts in force come from the base, just as the config does. The change's prompts are
// only proposed.
func TestPrompts(t *testing.T) {
	const path = config.RepositoryDir + "/prompt-design-auditor.md"
	r := newRepo(t)
	r.write(path, "Look at colours.\n")
	r.write(config.RepositoryDir+"/prompts/other.md", "not config\n")
	r.commit("start")
	r.git("switch", "--quiet", "--create", "feature")
	r.write("a.go", "package a\n")
	r.commit("something else")
	if got := modeOf(t, r.open(Options{Head: "feature"})); got != "none proposed" {
		t.Errorf("a change that does not touch the prompts: %s", got)
	}
	r.write(path, "Look at nothing.\n")
	r.commit("look away")
	for name, o := range map[string]Options{"head": {Head: "feature"}, "work tree": {}} {
		s := r.open(o)
		read, err := s.Config(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		proposed, err := s.Proposed(t.Context())
		if err != nil || proposed == nil {
			t.Fatalf("%s: %v, %v", name, proposed, err)
		}
		if now, then := told(t, read.Config), told(t, proposed); now != "Look at colours.\n" || then != "Look at nothing.\n" {
			t.Errorf("%s: the prompt in force is %q, the proposed one is %q", name, now, then)
		}
		if changes := config.Diff(read.Config, proposed); len(changes) != 1 || changes[0].File != filepath.Base(path) {
			t.Errorf("%s: changes %v", name, changes)
		}
	}
	r.remove(path)
	if err := os.Symlink("../../elsewhere.md", filepath.Join(r.dir, path)); err != nil {
		t.Fatal(err)
	}
	if got := modeOf(t, r.open(Options{})); got != "broken: "+path {
		t.Errorf("a link in place of a prompt: %s", got)
	}
}
