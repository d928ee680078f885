package normalize

import (
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/pipeline"
)

// What a Git LFS pointer stands for was not read: it gates unless the base says that the
// file is binary, as git lfs track writes it.
func TestPointersGate(t *testing.T) {
	t.Parallel()
	sum := strings.Repeat("0123456789abcdef", 4)
	added := "@@ -0,0 +1,3 @@\n+version https://git-lfs.github.com/spec/v1\n+oid sha256:" + sum + "\n+size 12345"
	for _, tt := range []struct {
		name, path, patch, attributes string
		named, gates                  bool
	}{
		{"added", "app.js", added, "", true, true},
		{"a picture", "logo.png", added, "", true, true},
		{"tracked by the base", "logo.png", added, "*.png filter=lfs diff=lfs merge=lfs -text\n", true, false},
		{"changed", "app.js", "@@ -1,3 +1,3 @@\n version https://git-lfs.github.com/spec/v1\n-oid sha256:" + strings.Repeat("a", 64) + "\n-size 1\n+oid sha256:" + sum + "\n+size 2", "", true, true},
		{"under an older name", "app.js", strings.Replace(added, "git-lfs.github.com", "hawser.github.com", 1), "", true, true},
		{"with an extension's line", "app.js", strings.NewReplacer("+1,3", "+1,4", "+oid", "+ext-0-foo sha256:"+sum+"\n+oid").Replace(added), "", true, true},
		{"with carriage returns", "app.js", strings.ReplaceAll(added, "\n+", "\r\n+"), "", true, true},
		{"no pointer any more", "app.js", "@@ -1,3 +1 @@\n-version https://git-lfs.github.com/spec/v1\n-oid sha256:" + sum + "\n-size 1\n+let a", "", false, false},
		{"a text about pointers", "README.md", "@@ -0,0 +1,4 @@\n+# LFS\n+version https://git-lfs.github.com/spec/v1\n+oid sha256:" + sum + "\n+size 1", "", false, false},
	} {
		plus, minus := strings.Count(tt.patch, "\n+"), strings.Count(tt.patch, "\n-")
		f := build(PullRequest{}, Files{Files: []ChangedFile{
			{Path: tt.path, Status: pipeline.FileModified, Additions: plus, Deletions: minus, Patch: tt.patch},
		}}, Commits{}, []byte(tt.attributes))
		named, gates := false, false
		for _, i := range f.Incomplete {
			if i.Path == tt.path && strings.Contains(i.Why, "Git LFS pointer") {
				named, gates = true, i.Gating
			}
		}
		if named != tt.named || gates != tt.gates {
			t.Errorf("%s: named %v, gates %v; want %v, %v: %+v", tt.name, named, gates, tt.named, tt.gates, f.Incomplete)
		}
	}
}

// A script without an extension is in the language that its first line names.
func TestScriptsAreInTheirInterpretersLanguage(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]string{{"a.txt", "#!/bin/sh", "Shell"}, {"a.cgi", "#!/usr/bin/python3", "Python"}, {"a.py", "#!/bin/sh", "Python"}, {"a.txt", "#!/opt/tool", "Text"},
		{"a.md", "#!/bin/sh", "Shell"}, {"web/App.vue", "#!/usr/bin/lua", "Vue"}, {"web/a.html", "#!/usr/bin/lua", "HTML"}, {"web/a.ejs", "#!/usr/bin/lua", "EJS"},
		{".github/workflows/ci.yml", "#!/usr/bin/lua", "YAML"}, {"db/m.sql", "#!/usr/bin/lua", "SQL"}, {"a.json", "#!/bin/sh", "JSON"}} {
		f := build(PullRequest{}, Files{Files: []ChangedFile{{Path: c[0], Status: pipeline.FileAdded, Additions: 1, Patch: "@@ -0,0 +1 @@\n+" + c[1]}}}, Commits{}, nil)
		if got := f.Files[0].Language; got != c[2] {
			t.Errorf("%s: %q, want %q", c, got, c[2])
		}
		if got, want := Doubtful(&f.Files[0]), c[0] != "a.py" && c[1] != "#!/opt/tool"; got != want {
			t.Errorf("%s: Doubtful = %v, want %v", c, got, want)
		}
	}
	for first, want := range map[string]string{
		"#!/usr/bin/env python3":       "Python",
		"#!/usr/bin/python2.7 -u":      "Python",
		"#!/usr/bin/env -S python3 -u": "Python",
		"#!/usr/bin/env PATH=/x node":  "JavaScript",
		"#! /bin/sh -e":                "Shell",
		"#!/usr/local/bin/ruby":        "Ruby",
		"#!/opt/tool":                  "",
		"import os":                    "",
	} {
		f := build(PullRequest{}, Files{Files: []ChangedFile{
			{Path: "bin/tool", Status: pipeline.FileAdded, Additions: 2, Patch: "@@ -0,0 +1,2 @@\n+" + first + "\n+x"},
		}}, Commits{}, nil)
		if got := f.Files[0].Language; got != want {
			t.Errorf("%s: %q, want %q", first, got, want)
		}
	}
}
