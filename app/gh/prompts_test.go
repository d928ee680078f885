package gh

import (
	"fmt"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/config"
)

const routeBlobs = "GET /repos/{owner}/{repo}/git/blobs/{file_sha}"

// Prompts are found in the same directory list as the config files, and read once while they
// stay unchanged.
func TestPromptsOfARepository(t *testing.T) {
	w := newWorld(t, ghtest.Options{})
	w.repo.Commit("main", ghtest.Files{settingsFile: `{}`}, "config")
	w.config(w.shop(), "")
	w.hub.Calls.Reset()
	w.config(w.shop(), "")
	plain := len(w.hub.Calls.All())

	dir := config.RepositoryDir + "/"
	w.repo.Commit("main", ghtest.Files{
		dir + "prompt-queues.md":              "Look for jobs.\n",
		dir + "prompt-link.md":                ghtest.Symlink("/etc/passwd"),
		dir + "prompt-large.md":               strings.Repeat("x", config.MaxPromptBytes+500),
		dir + "prompt-lib.md":                 ghtest.Submodule(strings.Repeat("d", 40)),
		dir + "prompt-Wrong.md":               "not read",
		dir + "prompt-of-a-directory.md/a.md": "not read",
		dir + "prompts/more.md":               "not config",
	}, "prompts")
	texts := w.texts(config.LayerRepository, w.config(w.shop(), "").Repository)
	if n := len(texts["prompt-large.md"]); n != config.MaxPromptBytes+1 {
		t.Errorf("read %d bytes of a prompt above the limit", n)
	}
	w.wantTexts(config.LayerRepository, w.config(w.shop(), "").Repository, map[string]string{
		"review-settings.json": `{}`, "prompt-queues.md": "Look for jobs.\n", "prompt-link.md": "/etc/passwd", "prompt-large.md": texts["prompt-large.md"],
		"prompt-lib.md": "", "prompt-of-a-directory.md": "", "prompt-Wrong.md": "",
	})

	w.repo.Commit("main", ghtest.Files{dir + "prompt-large.md": "Look at this.\n"}, "shorter")
	w.config(w.shop(), "")
	w.hub.Calls.Reset()
	w.config(w.shop(), "")
	if n := len(w.hub.Calls.All()); n != plain {
		t.Errorf("%d calls with prompts, %d without", n, plain)
	}
}

// When a layer has too many prompts, one prompt above the limit is read, and no more.
func TestTooManyPrompts(t *testing.T) {
	w := newWorld(t, ghtest.Options{})
	files := ghtest.Files{}
	for i := range 10 * config.MaxPrompts {
		files[fmt.Sprintf("%s/prompt-p%03d.md", config.RepositoryDir, i)] = fmt.Sprint("Look here, ", i)
	}
	w.repo.Commit("main", files, "prompts")
	w.hub.Calls.Reset()
	read := w.config(w.shop(), "")
	if n := len(w.hub.Calls.To(routeBlobs)); n != config.MaxPrompts+1 || len(read.Repository.Files) != n {
		t.Errorf("%d of %d files were read", n, len(read.Repository.Files))
	}
}
