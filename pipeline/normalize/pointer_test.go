package normalize

import (
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/raw"
)

// The content behind a Git LFS pointer was not read. It gates unless the base says that the file is
// binary, as git lfs track writes it.
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
		{"no longer a pointer", "app.js", "@@ -1,3 +1 @@\n-version https://git-lfs.github.com/spec/v1\n-oid sha256:" + sum + "\n-size 1\n+let a", "", false, false},
		{"a text about pointers", "README.md", "@@ -0,0 +1,4 @@\n+# LFS\n+version https://git-lfs.github.com/spec/v1\n+oid sha256:" + sum + "\n+size 1", "", false, false},
	} {
		plus, minus := strings.Count(tt.patch, "\n+"), strings.Count(tt.patch, "\n-")
		f := build(raw.PullRequest{}, raw.Files{Files: []raw.ChangedFile{
			{Path: tt.path, Status: pipeline.FileModified, Additions: plus, Deletions: minus, Patch: tt.patch},
		}}, raw.Commits{}, []byte(tt.attributes))
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

// A submodule's commit is named and gates nothing.
func TestSubmodulesAreNamed(t *testing.T) {
	t.Parallel()
	const commit = "Subproject commit 0123456789abcdef0123456789abcdef01234567"
	for patch, want := range map[string]bool{
		"@@ -0,0 +1 @@\n+" + commit: true, "@@ -1 +1 @@\n-Subproject commit " + strings.Repeat("a", 40) + "\n+" + commit: true,
		"@@ -0,0 +1 @@\n+" + commit + "-dirty": true, "@@ -1 +0,0 @@\n-" + commit: false, "@@ -0,0 +1,2 @@\n+" + commit + "\n+a": false, "@@ -0,0 +1 @@\n+Subproject commit a": false,
	} {
		f := build(raw.PullRequest{}, raw.Files{Files: []raw.ChangedFile{{Path: "lib", Status: pipeline.FileModified, Additions: strings.Count(patch, "\n+"), Deletions: strings.Count(patch, "\n-"), Patch: patch}}}, raw.Commits{}, nil)
		named := false
		for _, i := range f.Incomplete {
			named = named || strings.Contains(i.Why, "submodule")
			if i.Gating {
				t.Errorf("%q gates: %s", patch, i.Why)
			}
		}
		if named != want {
			t.Errorf("%q is named: %t, want %t", patch, named, want)
		}
	}
}

// A script without an extension is in the language that its first line names.
func TestScriptsHaveTheirInterpretersLanguage(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]string{{"a.txt", "#!/bin/sh", "Shell"}, {"a.cgi", "#!/usr/bin/python3", "Python"}, {"a.py", "#!/bin/sh", "Python"}, {"a.txt", "#!/opt/tool", "Text"},
		{"a.md", "#!/bin/sh", "Shell"}, {"web/App.vue", "#!/usr/bin/lua", "Vue"}, {"web/a.html", "#!/usr/bin/lua", "HTML"}, {"web/a.ejs", "#!/usr/bin/lua", "EJS"},
		{".github/workflows/ci.yml", "#!/usr/bin/lua", "YAML"}, {"db/m.sql", "#!/usr/bin/lua", "SQL"}, {"a.json", "#!/bin/sh", "JSON"}} {
		f := build(raw.PullRequest{}, raw.Files{Files: []raw.ChangedFile{{Path: c[0], Status: pipeline.FileAdded, Additions: 1, Patch: "@@ -0,0 +1 @@\n+" + c[1]}}}, raw.Commits{}, nil)
		if got := f.Files[0].Language; got != c[2] {
			t.Errorf("%s: %q, want %q", c, got, c[2])
		}
		if !Ambiguous(&f.Files[0]) {
			t.Errorf("%s: the language is not ambiguous", c)
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
		"#!/usr/bin/env pypy3":         "Python",
		"#!/usr/bin/env -S uv run -s":  "Python",
		"#!/usr/bin/env -Sbun run":     "JavaScript",
		"#!/usr/bin/env -vS tsx -r x":  "TypeScript",
		"#!/usr/bin/env ts-node":       "TypeScript",
		"#!/usr/bin/env -u A B=c lua5": "Lua",
		"#!/bin/busybox sh":            "Shell",
		"#!/usr/bin/env -S uv run sh":  "",
		"import os":                    "",
	} {
		f := build(raw.PullRequest{}, raw.Files{Files: []raw.ChangedFile{
			{Path: "bin/tool", Status: pipeline.FileAdded, Additions: 2, Patch: "@@ -0,0 +1,2 @@\n+" + first + "\n+x"},
		}}, raw.Commits{}, nil)
		if got := f.Files[0].Language; got != want {
			t.Errorf("%s: %q, want %q", first, got, want)
		}
	}
}

// If the first line names the interpreter of another language than the file's name does, either may
// be right.
func TestFirstLinesOfAnotherLanguage(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		path, first string
		ambiguous   bool
	}{
		{"d01.rb", "#!/usr/bin/env python3", true},
		{"a.js", "#!/bin/bash", true},
		{"a.py", "#!/usr/bin/env -S bash -e", true},
		{"a.lua", "#! /bin/sh", true},
		{"a.pl", "#!/usr/bin/env node", true},
		{"a.awk", "#!/usr/bin/node", true},
		{"a.go", "#!/usr/bin/perl", true},
		{"a.sh", "#!/usr/bin/env -S uv run --script", true},
		{"a.rb", "#!/usr/bin/env tsx", true},
		{"a.php", "#!/usr/bin/env -S npx ts-node", true},
		{"a.rb", "#!/usr/bin/env pypy3", true},
		{"a.rb", "#!/usr/bin/env bun", true},
		{"a.rb", "#!/usr/bin/env -S A=b /opt/python3.12", true},
		{"a.rb", "#!/usr/bin/env \"-S python3\"", true},
		{"a.rb", "#!/usr/bin/env --split-string=python3 -u", true},
		{"a.rb", "\ufeff#!/usr/bin/python", true},
		{"a.rb", "#!/opt/run", true},
		{"a.rb", "#!", true},
		{"a.py", "#!/usr/bin/env -S uv run bash", true},
		{"a.py", "#!/usr/bin/sudo bash", true},
		{"a.py", "#!/usr/bin/env python3", false},
		{"a.py", "#!/usr/bin/python2.7 -u", false},
		{"a.py", "#!/usr/bin/env -S uv run --script", false},
		{"a.py", "#!/usr/bin/pypy3", false},
		{"a.sh", "#!/bin/bash -e", false},
		{"a.sh", "#!/bin/busybox sh", false},
		{"a.bash", "#!/usr/bin/env bash", false},
		{"a.js", "#!/usr/bin/env node", false},
		{"a.mjs", "#!/usr/bin/env zx", false},
		{"a.ts", "#!/usr/bin/env node", false},
		{"a.ts", "#!/usr/bin/env -S deno run --allow-net", false},
		{"a.ts", "#!/usr/bin/env bun", false},
		{"a.rb", "#!/usr/bin/env ruby", false},
		{"a.pl", "#!/usr/bin/perl -w", false},
		{"a.awk", "#!/usr/bin/awk -f", false},
		{"a.php", "#!/usr/bin/env php", false},
		{"a.R", "#!/usr/bin/env Rscript", false},
		{"a.mk", "#!/usr/bin/make -f", false},
		{"Jenkinsfile", "#!/usr/bin/env groovy", false},
		{"a.rs", "#![allow(dead_code)]", false},
		{"a.py", "import os", false},
	} {
		f := build(raw.PullRequest{}, raw.Files{Files: []raw.ChangedFile{{Path: tt.path, Status: pipeline.FileAdded, Additions: 1, Patch: "@@ -0,0 +1 @@\n+" + tt.first}}}, raw.Commits{}, nil)
		if got := Ambiguous(&f.Files[0]); got != tt.ambiguous {
			t.Errorf("%s with %q: %v, want %v", tt.path, tt.first, got, tt.ambiguous)
		}
	}
}

// A part of a file may belong to a script whose first line is not shown, unless the name says what
// the file is.
func TestFirstLineThatIsNotShown(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{
		"tool.cgi": true, "tool.fcgi": true, "run.job": true, "bin/a.task": true,
		"a.csv": false, "a.txt": false, "a.svg": false, "a.json": false, "a.md": false, "a.py": false, "a.png": false, "docs/a.foo": false,
	} {
		f := build(raw.PullRequest{}, raw.Files{Files: []raw.ChangedFile{{Path: path, Status: pipeline.FileModified, Additions: 1, Patch: "@@ -5,1 +5,2 @@\n a\n+b"}}}, raw.Commits{}, nil)
		if got := Ambiguous(&f.Files[0]); got != want {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
}
