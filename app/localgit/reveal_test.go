package localgit

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/app/internal/unshown"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/normalize"
	"github.com/reviewgate/reviewgate/pipeline/secrets"
)

// utf16 encodes an ASCII text in UTF-16, with a byte order mark.
func utf16(s string) string {
	out := "\xff\xfe"
	for _, c := range []byte(s) {
		out += string([]byte{c, 0})
	}
	return out
}

// added joins the lines that a change adds to a file.
func added(f pipeline.PRFacts, path string) string {
	var lines []string
	for _, file := range f.Files {
		for _, h := range file.Hunks {
			for _, l := range h.Lines {
				if file.Path == path && l.Op == pipeline.LineAdded {
					lines = append(lines, l.Text)
				}
			}
		}
	}
	return strings.Join(lines, "\n")
}

func gates(f pipeline.PRFacts, path string) bool {
	for _, i := range f.Incomplete {
		if i.Path == path && i.Gating {
			return true
		}
	}
	return false
}

// Text that git takes for binary is read, in a range, in the index and in the work tree, whether git
// tracks the file or not.
func TestHiddenTextIsRead(t *testing.T) {
	const evil = "os.system(cmd)"
	hidden := map[string]string{
		"nul.sh":       "#!/bin/sh\n" + evil + "\n\x00",
		"settings.ini": utf16("a=1\n" + evil + "\n"),
		"big.txt":      "\xfe\xff\x00" + strings.Join(strings.Split(evil, ""), "\x00"),
		"off.py":       evil + "\n",
		"fake.png":     evil + "\n\x00",
		".env":         "A=1\n" + evil + "\x00\n",
	}
	attributes := ".gitattributes"
	check := func(t *testing.T, s *Source) {
		t.Helper()
		f := facts(t, s)
		for path := range hidden {
			if !strings.Contains(added(f, path), evil) {
				t.Errorf("%s: added %q, incomplete %+v", path, added(f, path), f.Incomplete)
			}
		}
		if strings.Contains(added(f, "off.py"), "import os") {
			t.Error("old lines count as new")
		}
	}
	start := func(t *testing.T) *repo {
		r := newRepo(t)
		r.write(attributes, "off.py -diff\n")
		r.write("off.py", "import os\n")
		r.commit("start")
		r.git("switch", "--quiet", "--create", "topic")
		for path, text := range hidden {
			if path == "off.py" {
				text = "import os\n" + text
			}
			r.write(path, text)
		}
		return r
	}
	t.Run("range", func(t *testing.T) {
		r := start(t)
		r.commit("more")
		check(t, r.open(Options{Base: "main", Head: "topic"}))
	})
	t.Run("index", func(t *testing.T) {
		r := start(t)
		r.git("add", "--all")
		check(t, r.open(Options{Base: "main"}))
	})
	t.Run("staged", func(t *testing.T) {
		r := start(t)
		r.git("add", "--all")
		for path := range hidden {
			r.write(path, "harmless\n")
		}
		check(t, r.open(Options{Staged: true}))
	})
	t.Run("untracked", func(t *testing.T) { check(t, start(t).open(Options{Base: "main", Untracked: true})) })
}

// An empty file has no hidden diff, even if the change edits the attributes.
func TestEmptyFileBesideAttributes(t *testing.T) {
	start := func(t *testing.T) *repo {
		r := newRepo(t)
		r.write("README.md", "# Shop\n")
		r.commit("start")
		r.git("switch", "--quiet", "--create", "topic")
		r.write(".gitattributes", "*.bin binary\n")
		r.write("pkg/__init__.py", "")
		return r
	}
	for name, open := range map[string]func(*testing.T) *Source{
		"range": func(t *testing.T) *Source {
			r := start(t)
			r.commit("more")
			return r.open(Options{Base: "main", Head: "topic"})
		},
		"index":     func(t *testing.T) *Source { r := start(t); r.git("add", "--all"); return r.open(Options{Base: "main"}) },
		"staged":    func(t *testing.T) *Source { r := start(t); r.git("add", "--all"); return r.open(Options{Staged: true}) },
		"untracked": func(t *testing.T) *Source { return start(t).open(Options{Base: "main", Untracked: true}) },
		"known, not added": func(t *testing.T) *Source {
			r := start(t)
			r.git("add", "--intent-to-add", "--all")
			return r.open(Options{Base: "main"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := facts(t, open(t))
			if len(f.Files) != 2 || gates(f, "pkg/__init__.py") {
				t.Errorf("%d files, incomplete %+v", len(f.Files), f.Incomplete)
			}
		})
	}
}

// Unreadable bytes hold the gate where anything says that the file is text. They are searched
// for secrets.
func TestUnreadableBytes(t *testing.T) {
	const token = "gh" + "p_1fKq8ZrT5wYv3NcXb7LmJd9PsHg2RtUaWe4Q"
	noise := strings.Repeat("\x00\x01\x9f\xfe\x80\x93", 300)
	r := newRepo(t)
	r.write("README.md", "# Shop\n")
	r.commit("start")
	r.git("switch", "--quiet", "--create", "topic")
	r.write("tool.sh", noise)
	r.write("data.bin", noise+"\n"+token+"\n"+noise)
	r.write("image.png", "\x89PNG\r\n\x1a\n"+noise)
	r.write("run.png", "\x89PNG\r\n\x1a\n"+noise)
	if err := os.Chmod(filepath.Join(r.dir, "run.png"), 0o755); err != nil {
		t.Fatal(err)
	}
	r.commit("more")
	d, err := secrets.Default()
	if err != nil {
		t.Fatal(err)
	}
	f, _, err := normalize.Normalize(t.Context(), r.open(Options{Base: "main", Head: "topic"}), normalize.Options{Redactor: d.Change()})
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{"tool.sh": true, "data.bin": false, "image.png": false, "run.png": true} {
		if gates(f, path) != want {
			t.Errorf("%s holds the gate: %v, want %v: %+v", path, !want, want, f.Incomplete)
		}
	}
	for _, i := range f.Incomplete { // a gating entry says what to do
		if strings.HasSuffix(i.Why, "in the base's .gitattributes, or have somebody comment /review accept unread") != i.Gating {
			t.Errorf("%s: %s", i.Path, i.Why)
		}
	}
	if len(f.Redactions) != 1 || f.Redactions[0].Path != "data.bin" {
		t.Errorf("redactions %+v", f.Redactions)
	}
}

// After a rename to a name under which the text takes effect, all of the file's text is new.
func TestRenamedIntoUseIsRead(t *testing.T) {
	text := strings.Repeat("os.system(cmd)\n", 20)
	r := newRepo(t)
	r.write("notes.txt", text)
	r.write("image.png", "#"+text+"\x00")
	r.write("kept.py", strings.Repeat("eval(x)\n", 20))
	r.commit("start")
	r.git("switch", "--quiet", "--create", "topic")
	for from, to := range map[string]string{"notes.txt": "tool.py", "image.png": "job.py", "kept.py": "other.py"} {
		r.git("mv", from, to)
	}
	r.commit("move")
	f := facts(t, r.open(Options{Base: "main", Head: "topic"}))
	for path, want := range map[string]bool{"tool.py": true, "job.py": true, "other.py": false} {
		if (added(f, path) != "") != want {
			t.Errorf("%s: added %q", path, added(f, path))
		}
	}
}

// A secret in a file's bytes is reported, even if none of its lines can be shown.
func TestSecretsInHiddenText(t *testing.T) {
	const token = "gh" + "p_1fKq8ZrT5wYv3NcXb7LmJd9PsHg2RtUaWe4Q"
	glued := "da" + "pi3f8a91c27be6405d9e1b7c82f4a6d035" // a letter before it hides it in the lines
	r := newRepo(t)
	r.write("long.txt", "\x00"+strings.Repeat("x", unshown.MaxContent+1))
	r.commit("start")
	r.git("switch", "--quiet", "--create", "topic")
	r.write("long.txt", utf16("token = "+token+"\n"))
	r.write("nul.env", "A="+token+"\nB=a\x00"+glued+"\n")
	r.commit("more")
	d, err := secrets.Default()
	if err != nil {
		t.Fatal(err)
	}
	f, _, err := normalize.Normalize(t.Context(), r.open(Options{Base: "main", Head: "topic"}), normalize.Options{Redactor: d.Change()})
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]int{}
	for _, r := range f.Redactions {
		found[r.Path+" "+r.RuleID]++
	}
	for _, path := range []string{"long.txt", "nul.env"} {
		if found[path+" github-pat"] != 1 {
			t.Errorf("%s: redactions %+v", path, f.Redactions)
		}
		if !gates(f, path) || added(f, path) != "" {
			t.Errorf("%s: added %q, incomplete %+v", path, added(f, path), f.Incomplete)
		}
	}
}

// A submodule has no text, whatever its name is.
func TestRenamedSubmodule(t *testing.T) {
	r := newRepo(t)
	r.write("README.md", "# Shop\n")
	r.git("add", "README.md")
	at := func(path string) {
		r.git("update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("a", 40)+","+path)
	}
	at("lib")
	r.git("commit", "--quiet", "--message", "start")
	r.git("switch", "--quiet", "--create", "topic")
	r.git("rm", "--cached", "--quiet", "lib")
	at("tool.py")
	r.git("commit", "--quiet", "--message", "move")
	f := facts(t, r.open(Options{Base: "main", Head: "topic"}))
	if len(f.Files) != 1 || f.Files[0].Status != pipeline.FileRenamed || len(f.Incomplete) > 0 {
		t.Errorf("files %+v, incomplete %+v", f.Files, f.Incomplete)
	}
}
